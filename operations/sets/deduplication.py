"""Deduplicates a data set: reads its rows, decides which are kept, and writes those in the format they came in."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import fields as dataclass_fields
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any, TypedDict, Unpack
from unicodedata import normalize

from opensearch_winnow.clusters.deduplication.decisions import FAILED, KEPT, Deduplication
from opensearch_winnow.clusters.deduplication.options import DeduplicationError, DeduplicationOptions, Match
from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.cython_core.symbols import symbol_places
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.foundation.path_names import PathName, path_names
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.ingest.rows import Edit, FailedRow, FieldNames, Row
from opensearch_winnow.ingest.rows.in_memory import ArrowTable, in_memory
from opensearch_winnow.ingest.rows.output import check_rows_output
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.runs.failed_pages import FailedRows
from opensearch_winnow.ingest.sources import SourceError
from opensearch_winnow.ingest.sources.field_names import value_at
from opensearch_winnow.ingest.sources.page_fields import FieldError, page_of
from opensearch_winnow.ingest.sources.row_fields import missing_in
from opensearch_winnow.ingest.sources.split import Failed
from opensearch_winnow.operations.sets.row_text import RowTexts

MARKS: dict[str, type] = {"cluster": int, "keep": bool, "representative": str, "similarity": float}
WRITING = "writing"
ROWS_PER_REPORT = 1_000
MAX_FIELDS_SEEN = 100
CHARS_AROUND = 40  # of the first difference, on each side

ReadRows = Callable[[], Iterable[Row | FailedRow]]


class DeduplicationKeywords(TypedDict, total=False):
    """The keyword parameters of both functions: what counts as a duplicate, what is kept, and where the run works."""

    match: Match
    threshold: float
    keep: str
    fields: FieldNames
    scheme: Scheme
    max_row_size: int
    memory: str | None
    threads: int | None
    work: str | None
    progress: Progress | None


def deduplicate(
    sources: PathName | Iterable[PathName],
    to: PathName | None = None,
    *,
    against: PathName | Iterable[PathName] = (),
    against_fields: FieldNames | None = None,
    mark: bool = False,
    ids: PathName | None = None,
    dropped: PathName | None = None,
    failed: PathName | None = None,
    overwrite: bool = False,
    **options: Unpack[DeduplicationKeywords],
) -> Deduplication:
    """Write the rows of `sources` to `to` without duplicates, as the command `winnow dedup` does.

    A source is a file of JSON lines, Parquet or CSV, a folder, or a web archive. Rows are written as they were, in the
    same format; nothing is visible until all is complete. `match` is "identical" (the same text), "exact" (the same
    words), "near" (a resemblance of `threshold` or more) or "contained" (a share of `threshold` or more is in another
    row). `keep` chooses the row that is kept: "earliest", "newest", "longest", "source" (that of the first source),
    "best:FIELD" or "lowest:FIELD". Rows that are in the sources `against` are dropped; these are not written.

    With `mark`, all rows are written, with the columns `cluster`, `keep`, `representative` and `similarity`. `ids` is a
    file for the ids of the rows kept, one a line, and `dropped` one for JSON lines about those dropped. Rows that
    cannot be read are in the file `failed`. `fields` names the fields of rows that have unusual names:
    `FieldNames(text="story")`; `against_fields` those of the sources `against`, if they are others. A row whose text
    has more than `max_row_size` bytes, by default 10 MB, fails. `memory` ("2GB"), `threads` and `work` (a folder for
    temporary files) limit the run; `progress` is called with the phase, the amount done and the total.
    """
    chosen, settings, fields, scheme, max_row_size = _parts(options, to)
    names, earlier_names = path_names(sources), path_names(against)
    if not names:
        raise DeduplicationError("there are no rows to deduplicate: name at least one source")
    if mark and to is None:
        raise DeduplicationError("marked rows need a place: name where to write them")
    for name in (ids, dropped):
        if name is not None:
            check_output(Path(name), overwrite=overwrite)  # now, because the work takes long
    with ExitStack() as stack:
        files = stack.enter_context(RowFiles(names, fields, chosen.keep_rule.field, max_row_size=max_row_size))
        if to is not None:
            files.check_output(os.fspath(to), MARKS if mark else {}, overwrite=overwrite)
        chosen.keep_rule.check_fields(files.fields_seen() if chosen.keep_rule.field else None)
        earlier = None
        if earlier_names:
            with _naming_options():
                earlier_files = RowFiles(earlier_names, against_fields or fields, max_row_size=max_row_size)
                earlier = stack.enter_context(earlier_files)
        if failed is not None:
            check_rows_output(Path(failed), files.has, overwrite=overwrite)
        failures = stack.enter_context(FailedRows(Path(failed)) if failed is not None else nullcontext())

        def keep_failure(row: FailedRow, page: Page | None) -> None:
            if failures is not None and page is not None:  # RowFiles has added the others
                failures.add(Failed(page, row.reason), files.names[row.source])

        result = _decide_rows(
            files.rows(failures),
            chosen,
            settings,
            earlier_set=earlier.rows() if earlier else (),
            scheme=scheme,
            max_row_size=max_row_size,
            on_failure=keep_failure,
        )
        lists = [stack.enter_context(open_new(Path(name))) if name is not None else None for name in (ids, dropped)]
        if any(lists):
            _write_lists(files, result, *lists)
        if to is not None:
            _write_rows(files, result, to, settings, mark=mark, overwrite=overwrite)
        if failures is not None:
            failures.incomplete = False
        result.other_texts = files.other_texts
        add_texts(result, files.rows, earlier.rows if earlier else tuple)
    return result


def deduplicate_rows(
    rows: Iterable[str | Mapping[str, Any]] | ArrowTable,
    *,
    against: Iterable[str | Mapping[str, Any]] | ArrowTable = (),
    against_fields: FieldNames | None = None,
    **options: Unpack[DeduplicationKeywords],
) -> Deduplication:
    """Decide which of `rows`, texts or mappings with a field for the text, to keep. `deduplicate` has the parameters.

    A table is one of Arrow, pandas (from 2.2 on) or polars.

    Usage:

        result = deduplicate_rows(["one text", "another text", "one text"])
        result.kept_numbers()  # [0, 1]
        result.representatives[2]  # 0
    """
    chosen, settings, fields, scheme, max_row_size = _parts(options, None)
    value_field = chosen.keep_rule.field

    def new_rows() -> Iterator[Row | FailedRow]:
        return _rows_in_memory(rows, fields, value_field, max_row_size)

    def earlier_rows() -> Iterator[Row | FailedRow]:
        return _rows_in_memory(against, against_fields or fields, None, max_row_size)

    result = _decide_rows(
        new_rows(), chosen, settings, earlier_set=earlier_rows(), scheme=scheme, max_row_size=max_row_size
    )
    if not isinstance(rows, Iterator) and not isinstance(against, Iterator):  # an iterator is used up
        add_texts(result, new_rows, earlier_rows)
    return result


def _parts(
    options: DeduplicationKeywords, to: PathName | None
) -> tuple[DeduplicationOptions, RunSettings, FieldNames, Scheme, int]:
    """Divide the keyword parameters by what they are for."""
    given: dict[str, Any] = dict(options)
    fields, scheme = given.pop("fields", FieldNames()), given.pop("scheme", Scheme())
    max_row_size = given.pop("max_row_size", MAX_PAGE_BYTES)
    run = {name: given.pop(name) for name in ("memory", "threads", "work", "progress") if name in given}
    for name in given.keys() - {each.name for each in dataclass_fields(DeduplicationOptions)}:
        hint = ": fields are named with fields=FieldNames(text=…)" if name.endswith("_field") else ""
        raise TypeError(f"there is no parameter {name}{hint}")
    output = None if to is None else os.fspath(to)
    return DeduplicationOptions(**given), RunSettings(output=output, **run), fields, scheme, max_row_size


@contextmanager
def _naming_options() -> Iterator[None]:
    """Name the options of the earlier set in errors about its fields."""
    try:
        yield
    except SourceError as error:
        message = str(error).replace("FieldNames(", "against_fields=FieldNames(")
        for name in ("text", "id"):
            message = message.replace(f"--{name}-field", f"--against-{name}-field")
        raise SourceError(message) from None


def _decide_rows(*arguments: Any, **options: Any) -> Deduplication:
    with extra("cluster"):  # imported here, because Arrow takes half a second to load
        from opensearch_winnow.clusters.deduplication.deciding import decide_rows  # noqa: PLC0415

    return decide_rows(*arguments, **options)


def _rows_in_memory(
    rows: object, fields: FieldNames, value_field: str | None, max_row_size: int
) -> Iterator[Row | FailedRow]:
    seen: dict[str, None] | None = {}  # the fields of rows, as long as none has a text
    for number, row in enumerate(in_memory(rows, max_row_size)):
        name = str(number)
        try:
            if isinstance(row, FieldError):
                raise row
            if isinstance(row, str):
                yield Row(number, 0, Page(name, text=row))
                seen = None
            elif not isinstance(row, Mapping):
                yield FailedRow(number, 0, name, "neither a text nor a mapping")
            else:
                if seen is not None and len(seen) < MAX_FIELDS_SEEN:
                    seen |= dict.fromkeys(map(str, row))
                page = page_of(row, max_row_size, fields, name, lenient=True)
                seen = None
                yield Row(number, 0, page, value_at(row, value_field) if value_field else None)
        except FieldError as error:
            yield FailedRow(number, 0, name, str(error))
    if seen and (missing := missing_in(list(seen), fields)):
        raise SourceError(f"the rows have {missing.sentence.replace(': its fields', ': their fields')}")


def _write_rows(
    files: RowFiles, result: Deduplication, to: PathName, settings: RunSettings, *, mark: bool, overwrite: bool
) -> None:
    unchanged = Edit()

    def decide(number: int) -> Edit | None:
        if number % ROWS_PER_REPORT == 0:
            settings.report(WRITING, number, result.rows)
        if mark:
            return None if result.outcomes[number] == FAILED else Edit(columns=result.marks(number))
        return unchanged if result.outcomes[number] == KEPT else None

    files.write(os.fspath(to), decide, MARKS if mark else {}, overwrite=overwrite)


def _write_lists(files: RowFiles, result: Deduplication, ids: IO[bytes] | None, dropped: IO[bytes] | None) -> None:
    """Write the ids of the rows kept, and a line about each row dropped."""
    for row in files.rows():
        if isinstance(row, FailedRow) or result.outcomes[row.number] == FAILED:
            continue
        if result.is_kept(row.number):
            if ids is not None:
                ids.write(row.page.url.replace("\n", " ").encode(errors="replace") + b"\n")
        elif dropped is not None:
            line = {"id": row.page.url, "row": row.number, "why": result.outcome(row.number)}
            marks = result.marks(row.number)
            about = json.dumps(line | {name: marks[name] for name in MARKS if name != "keep"})
            dropped.write(about.encode() + b"\n")


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
