"""Counts of and sentences about the rows of a data set that were kept, dropped or not read."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.answers.formatting import compact_percent, count_of
from opensearch_winnow.clusters.deduplication.decisions import Deduplication
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.operations.sets.passage_run import PassagesResult

OUTCOMES = ("rows", "kept", "dropped", "failed")
WARNINGS = ("other_symbols", "not_compared", "wrong_dates")
IN_PASSAGES = ("passages", "rows_with_passages", "characters", "characters_in_passages")
DROPPED = {  # the attributes with the rows dropped for each reason
    "identical": "same text",
    "exact": "same words",
    "near": "near-duplicates",
    "contained": "contained in another",
}
RowsResult = Deduplication | PassagesResult


@answer
class RowCount(Answer):
    """One of the counts of a run over the rows of a set."""

    part: str = key("The part of the answer.")
    name: str = key("What is counted.")
    value: int = key("The count.")


def row_counts(result: RowsResult) -> Iterator[RowCount]:
    """Yield the counts of a run, one by one."""

    def counts(part: str, names: Iterable[str]) -> Iterator[RowCount]:
        return (RowCount(part, name, getattr(result, name)) for name in names)

    yield from counts("count", OUTCOMES)
    if isinstance(result, Deduplication):
        yield from counts("dropped", DROPPED)
        if result.against_rows:
            yield RowCount("against", "rows", result.against_rows)
            yield RowCount("against", "failed", result.against_failed)
            yield RowCount("against", "dropped for them", result.against)
        yield from counts("warning", (name for name in WARNINGS if getattr(result, name)))
    else:
        yield from counts("passages", IN_PASSAGES)
    yield from (RowCount("failed", reason, rows) for reason, rows in result.failures.most_common())
    if isinstance(result, Deduplication):
        yield from (RowCount("largest", each.id, each.rows) for each in result.largest_clusters)
    else:
        yield from (RowCount("most frequent", each.beginning, each.count) for each in result.most_frequent)


def dropped_words(result: Deduplication) -> str:
    """Say how many rows were dropped for each reason."""
    parts = [f"{words} {getattr(result, name):,}" for name, words in DROPPED.items() if getattr(result, name)]
    if result.against:
        parts.append(f"of these {result.against:,} are in the earlier set")
    return " · ".join(parts)


def attention_words(result: Deduplication) -> Iterator[str]:
    """Yield sentences about rows that need attention."""
    yield from (f"Warning: {warning}" for warning in _warnings(result))
    if result.against_failed:
        yield f"{count_of(result.against_failed, 'row')} of the earlier set could not be read."


def _warnings(result: Deduplication) -> Iterator[str]:
    if (example := result.other_symbols_example) is not None:
        one = "row was dropped for its words though its operators or signs differ"
        many = "rows were dropped for their words though their operators or signs differ"
        shown = f"“{one_line(example.text)}” for “{one_line(example.representative_text)}”"
        yield (
            f"{count_of(result.other_symbols, one, many)}, such as {shown}."
            " If they matter, as in mathematics and code, use --match identical."
        )
    if result.not_compared:
        yield (
            f"{count_of(result.not_compared, 'row that is', 'rows that are')} kept may be in another: too many rows"
            " share passages with them to compare all."
        )
    if result.wrong_dates:
        rows = count_of(result.wrong_dates, "row has", "rows have")
        yield f"{rows} a date that cannot be read, or cannot be right. It counts as unknown."


def passages_words(result: PassagesResult) -> str:
    """Say how much of the texts is in repeated passages."""
    share = compact_percent(result.characters_in_passages / max(result.characters, 1))
    found = count_of(result.passages, "repeated passage")
    return f"{found} in {count_of(result.rows_with_passages, 'row')}: {share} of all text"
