"""Shows where two texts with the same words differ in their symbols."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import zip_longest
from unicodedata import normalize

from opensearch_winnow.clusters.deduplication.decisions import Deduplication
from opensearch_winnow.cython_core.symbols import symbol_places
from opensearch_winnow.ingest.rows import FailedRow, Row
from opensearch_winnow.operations.row_text import RowTexts

CHARS_AROUND = 40  # of the first difference, on each side

ReadRows = Callable[[], Iterable[Row | FailedRow]]


def add_texts(result: Deduplication, rows: ReadRows, earlier_set: ReadRows) -> None:
    """Read the two rows of the example again, if there is one, and add what they say where their symbols differ."""
    example = result.other_symbols_example
    if example is None:
        return
    text = _text_of(rows(), example.row)
    number = example.representative
    other = _text_of(rows(), number) if number >= 0 else _text_of(earlier_set(), -1 - number)
    shown, other_shown = excerpts(text, other)
    result.other_symbols_example = example._replace(text=shown, representative_text=other_shown)


def _text_of(rows: Iterable[Row | FailedRow], number: int) -> str:
    row = next(row for row in rows if row.number == number)
    return "" if isinstance(row, FailedRow) else normalize("NFC", RowTexts()(row.page) or "")


def excerpts(a: str, b: str) -> tuple[str, str]:
    """Return what two texts with the same words have around the first symbol in which they differ."""
    runs, other_runs = symbol_places(a), symbol_places(b)
    chars_before = 0
    for run, other in zip_longest(runs, other_runs):
        if run is None or other is None or a[slice(*run)] != b[slice(*other)]:
            found = [(text, span) for text, span in ((a, run), (b, other)) if span is not None]
            chars_before = min(sum(map(str.isalnum, text[: span[0]])) for text, span in found)
            break
    return _around(a, chars_before), _around(b, chars_before)


def _around(text: str, word_chars: int) -> str:
    """Return the characters around the offset that has `word_chars` letters and digits before it, in one line."""
    offset = 0
    while word_chars and offset < len(text):
        word_chars -= text[offset].isalnum()
        offset += 1
    start, end = max(offset - CHARS_AROUND, 0), offset + CHARS_AROUND
    return f"{'…' * (start > 0)}{' '.join(text[start:end].split())}{'…' * (end < len(text))}"
