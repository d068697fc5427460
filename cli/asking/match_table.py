"""Matches as a table with bars."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.answers.display_text import Span, width
from opensearch_winnow.answers.formatting import compact_percent, day, scored_percent
from opensearch_winnow.cli.page_lines import MIN_CUT_URL_COLUMNS, page_lines
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined, share_column
from opensearch_winnow.queries.asking.matches import Match, Matches
from opensearch_winnow.queries.scores import Score

# A is the question and B the page, as in `winnow compare`, which the output suggests as the next command.
HEADS: dict[Score, str] = {"resemblance": "resemblance", "containment": "A in B", "contained": "B in A"}


def table(matches: Matches, columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table: the score that orders the matches with a bar, the two others, and the page.

    With `full`, URLs are not shortened. The relationship has a column then, or if there is room for it.
    """
    if not matches:
        return
    score = matches.score
    shown = [share_column(HEADS[score], [getattr(each, score) for each in matches], best_scores(matches))]
    shown += [
        TextColumn(HEADS[name], [_other_score(each, name) for each in matches], right=True)
        for name in HEADS
        if name != score
    ]
    passages, days = [_passages(each) for each in matches], [day(each) for each in matches]
    if set(passages) != {"–"}:
        shown.append(TextColumn("passages", passages, right=True))
    if any(days):
        shown.append(TextColumn("date", days, right=True))
    head, cells = joined(shown)
    kinds = TextColumn("relationship", [each.relationship.kind if each.relationship else "" for each in matches])
    room = columns - width(head) - kinds.columns - 2 * len(GAP)
    if any(kinds.cells) and (full or room >= MIN_CUT_URL_COLUMNS):
        head, cells = joined([*shown, kinds])
    yield from page_lines(head, cells, [each.card for each in matches], columns, name="page (B)", full=full)


def best_scores(matches: Matches) -> list[str]:
    """Return each match's score by which the matches are ordered."""
    return [scored_percent(getattr(each, matches.score), each.kind, each.error) for each in matches]


def _other_score(match: Match, name: Score) -> str:
    return "≈ " * (match.kind == "estimate") + compact_percent(getattr(match, name))


def _passages(match: Match) -> str:
    if match.kind == "estimate" and not match.passages:
        return "–"  # estimates have no passages
    return f"{len(match.passages):,}"
