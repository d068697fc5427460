"""Matches as a table with bars, and as tab-separated values."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from opensearch_winnow.answers.display_text import Span, one_line, width
from opensearch_winnow.answers.formatting import compact_percent, day, scored_percent, time_stamp
from opensearch_winnow.cli.page_lines import MIN_CUT_URL_COLUMNS, page_lines
from opensearch_winnow.cli.terminal import Terminal, bar
from opensearch_winnow.cli.text_columns import GAP, left, right
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.scores import Score

# A is the question and B the page, as in `winnow compare`, which the output suggests as the next command.
HEADS: dict[Score, str] = {"resemblance": "resemblance", "containment": "A in B", "contained": "B in A"}
BAR_COLUMNS = 10
KIND_HEAD = "relationship"


def score(match: Match, name: Score) -> float:
    return {"resemblance": match.resemblance, "containment": match.containment, "contained": match.contained}[name]


def show_table(screen: Terminal, matches: Matches, *, full: bool = False) -> None:
    """Print the table; with `full`, URLs are not shortened."""
    for line in table(matches, screen.columns, full=full):
        screen.echo(screen.line(line))


def table(matches: Matches, columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Return the lines of the table: the score that orders the matches with a bar, the two others, and the page.

    The relationship has a column if it is `full`, or if there is room for it.
    """
    others = [name for name in HEADS if name != matches.score]
    numbers = [
        [
            _first_score(match, matches.score),
            *(_other_score(match, name) for name in others),
            _passages(match),
            day(match.card),
        ]
        for match in matches
    ]
    heads = [HEADS[matches.score], *(HEADS[name] for name in others), "passages", "date"]
    for empty, column in (("", len(heads) - 1), ("–", len(heads) - 2)):
        if all(row[column] == empty for row in numbers):
            del heads[column]
            numbers = [row[:column] + row[column + 1 :] for row in numbers]
    widths = [max(map(width, column)) for column in zip(*(["", *heads[1:]], *numbers), strict=True)]
    first = max(widths[0] + 1 + BAR_COLUMNS, width(heads[0]))
    head = GAP.join([heads[0].ljust(first), *map(right, heads[1:], widths[1:])])
    cells = [
        GAP.join(
            [
                f"{right(row[0], first - 1 - BAR_COLUMNS)} {bar(score(match, matches.score), BAR_COLUMNS)}",
                *map(right, row[1:], widths[1:]),
            ]
        )
        for match, row in zip(matches, numbers, strict=True)
    ]
    kinds = [_relationship(match) for match in matches]
    kind_columns = max(map(width, (KIND_HEAD, *kinds)))
    if any(kinds) and (full or columns >= width(head) + kind_columns + MIN_CUT_URL_COLUMNS + 2 * len(GAP)):
        head, *cells = (
            GAP.join([each, left(kind, kind_columns)])
            for each, kind in zip((head, *cells), (KIND_HEAD, *kinds), strict=True)
        )
    return page_lines(head, cells, [match.card for match in matches], columns, name="page (B)", full=full)


def show_rows(matches: Matches) -> None:
    """Print tab-separated values for programs, with nothing shortened."""
    sys.stdout.write(
        "resemblance\tcontainment\tcontained\tkind\terror\tpassages\tfetched_at\turl\ttitle\trelationship\n"
    )
    for match in matches:
        scores = "\t".join(f"{each:.6g}" for each in (match.resemblance, match.containment, match.contained))
        details = f"{match.kind}\t{match.error:.6g}\t{len(match.passages)}"
        page = f"{time_stamp(match.card) or ''}\t{one_line(match.url)}\t{one_line(match.card.title or '').strip()}"
        sys.stdout.write(f"{scores}\t{details}\t{page}\t{_relationship(match)}\n")


def _first_score(match: Match, name: Score) -> str:
    return scored_percent(score(match, name), match.kind, match.error)


def _other_score(match: Match, name: Score) -> str:
    return "≈ " * (match.kind == "estimate") + compact_percent(score(match, name))


def _relationship(match: Match) -> str:
    return match.relationship.kind if match.relationship else ""


def _passages(match: Match) -> str:
    if match.kind == "estimate" and not match.passages:
        return "–"  # estimates do not look for passages
    return f"{len(match.passages):,}"
