"""The lines of the table about the rows of winnow dedup."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from opensearch_winnow.answers.display_text import Span, one_line, shorten, shorten_middle, width
from opensearch_winnow.answers.sets.deduplication import OUTCOMES, RowsResult, dropped_words, passages_words
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined
from opensearch_winnow.clusters.deduplication.decisions import Deduplication

MAX_REASONS = 5  # of failed rows, listed on a terminal
MIN_COLUMNS = 20


def table(result: RowsResult, columns: int) -> Iterator[list[Span]]:
    """Yield the outcomes of the rows, and the largest clusters or the most frequent passages."""
    if isinstance(result, Deduplication):
        yield from _outcomes(result, {"dropped": dropped_words(result)})
        yield from _counted(
            "Largest clusters: rows, and the id of the one that stays",
            [(each.rows, each.id) for each in result.largest_clusters],
            columns,
            shorten_middle,
        )
        return
    notes = {"kept": f"{result.rows_with_passages - result.dropped:,} with a shorter text"}
    yield from _outcomes(result, notes | ({"dropped": "no words were left"} if result.dropped else {}))
    yield []
    yield [(passages_words(result), "plain")]
    yield from _counted(
        "Most frequent: rows that have it, and how it begins",
        [
            (each.count, each.beginning + "…" * (each.end - each.start > len(each.beginning)))
            for each in result.most_frequent
        ],
        columns,
        shorten,
    )


def _outcomes(result: RowsResult, notes: Mapping[str, str]) -> Iterator[list[Span]]:
    """Yield how many rows were kept, dropped and failed, with notes and the most frequent reasons."""
    reasons = " · ".join(f"{one_line(reason)} {rows:,}" for reason, rows in result.failures.most_common(MAX_REASONS))
    names = (*OUTCOMES[1:], OUTCOMES[0])
    numbers = [f"{getattr(result, name):,}" for name in names]
    _, (*lines, total) = joined([TextColumn("", names), TextColumn("", numbers, right=True)])
    for name, line in zip(names, lines, strict=False):
        note = reasons if name == "failed" else notes.get(name, "")
        yield [(line, "plain"), *([(GAP + note, "dim")] if note else [])]
    yield [(total, "bold")]


def _counted(
    head: str, listed: Sequence[tuple[int, str]], columns: int, shortened: Callable[[str, int], str]
) -> Iterator[list[Span]]:
    """Yield a heading and a line for each number and name, if there are any."""
    if listed:
        yield []
        yield [(head, "bold")]
    _, numbers = joined([TextColumn("", [f"{number:,}" for number, _ in listed], right=True)])
    for number, (_, name) in zip(numbers, listed, strict=True):
        room = max(columns - width(number) - len(GAP), MIN_COLUMNS)
        yield [(f"{number}{GAP}{shortened(one_line(name), room)}", "plain")]
