"""Deduplicates a data set: reads its rows, decides which to keep, and writes them in their own format."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, nullcontext
from dataclasses import KW_ONLY, dataclass
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any
from unicodedata import normalize

from opensearch_winnow.clusters.deduplication.decisions import FAILED, KEPT, Deduplication
from opensearch_winnow.clusters.deduplication.options import DeduplicationError, DeduplicationOptions
from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.cython_core.symbols import symbol_places
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.keywords import with_options
from opensearch_winnow.foundation.option_kinds import FLAG, path, repeated
from opensearch_winnow.foundation.options import option, option_of
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.foundation.path_names import PathName, path_names
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
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
from opensearch_winnow.operations.sets.row_options import RowOptions
from opensearch_winnow.operations.sets.row_text import RowTexts

MARKS: dict[str, type] = {"cluster": int, "keep": bool, "representative": str, "similarity": float}
WRITING = "writing"
ROWS_PER_REPORT = 1_000
MAX_FIELDS_SEEN = 100
CHARS_AROUND = 40  # of the first difference, on each side

ReadRows = Callable[[], Iterable[Row | FailedRow]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeduplicationRun(RowOptions, DeduplicationOptions):
    """Options of both functions: the definition of a duplicate, the fields of rows, and the limits of the run."""

    against_fields: FieldNames | None = None
    scheme: Scheme = Scheme()
    memory: str | None = option_of(RunSettings, "memory")
    threads: int | None = option_of(RunSettings, "threads")
    work: str | None = option_of(RunSettings, "work")

    def settings(self, output: str | None = None) -> RunSettings:
        return RunSettings(
            output=output, memory=self.memory, threads=self.threads, work=self.work, progress=self.progress
        )


@dataclass(frozen=True, slots=True)
class FileDeduplication(DeduplicationRun):
    """A deduplication of files: the earlier sets to compare them with, and the outputs."""

    to: PathName | None = option(
        None,
        path("OUT"),
        "Write the kept rows to this file, or to a file for each source in the folder OUT/.",
    )
    _: KW_ONLY
    against: PathName | Iterable[PathName] = option(
        (),
        repeated(path("OLD")),
        "Drop rows that this earlier set has. Its rows are not written. Can be repeated.",
    )
    mark: bool = option(
        False,
        FLAG,
        "Write all rows to OUT, with the columns cluster, keep, representative and similarity.",
        advanced=True,
    )
    ids: PathName | None = option(None, path("OUT"), "Write the ids of the kept rows to this file, one a line.")
    dropped: PathName | None = option(
        None,
        path("OUT"),
        "Write a JSON line for each dropped row to this file: its id, the reason, and the row kept instead.",
        advanced=True,
    )
    failed: PathName | None = option(
        None, path("FILE", "file"), "The file for rows that cannot be read: JSON lines.", unset="OUT.failed.jsonl"
    )
    overwrite: bool = option_of(RunSettings, "overwrite")


@dataclass(frozen=True, slots=True, kw_only=True)
class RowsDeduplication(DeduplicationRun):
    """A deduplication of rows in memory, with the earlier set to compare them with."""

    against: Iterable[str | Mapping[str, Any]] | ArrowTable = ()


@with_options(FileDeduplication)
def deduplicate(sources: PathName | Iterable[PathName], options: FileDeduplication) -> Deduplication:
    """Write the rows of `sources` to `to` without duplicates, as the command `winnow dedup` does.

    A source is a file of JSON lines, Parquet or CSV, a folder, or a web archive. Rows are written as they were, in the
    same format; nothing is visible until all is complete. `match` is "identical" (the same text), "exact" (the same
    words), "near" (a resemblance of `min_resemblance` or more) or "contained" (a share of `min_containment` or more is
    in another row). `keep` chooses the row that is kept: "earliest", "newest", "longest", "source" (that of the first
    source), "best:FIELD" or "lowest:FIELD". Rows that are in the sources `against` are dropped; these are not written.

    With `mark`, all rows are written, with the columns `cluster`, `keep`, `representative` and `similarity`. `ids` is a
    file for the ids of the kept rows, one a line, and `dropped` one for JSON lines about the dropped rows. Rows that
    cannot be read are in the file `failed`. `fields` names the fields of rows that have unusual names:
    `FieldNames(text="story")`; `against_fields` those of the sources `against`, if they are others. A row whose text
    has more than `max_row_size` bytes, by default 10 MB, fails. `memory` ("2GB"), `threads` and `work` (a folder for
    temporary files) limit the run; `progress` is called with the phase, the amount done and the total.
    """
    to, mark, overwrite = options.to, options.mark, options.overwrite
    settings = options.settings(None if to is None else os.fspath(to))
    names, earlier_names = path_names(sources), path_names(options.against)
    if not names:
        raise DeduplicationError("there are no rows to deduplicate: name at least one source")
    if mark and to is None:
        raise DeduplicationError("marked rows need an output: name the file to write")
    for name in (options.ids, options.dropped):
        if name is not None:
            check_output(Path(name), overwrite=overwrite)  # now, because the work takes long
    with ExitStack() as stack:
        value_field, largest = options.keep_rule.field, options.max_row_size
        files = stack.enter_context(RowFiles(names, options.fields, value_field, max_row_size=largest))
        if to is not None:
            files.check_output(os.fspath(to), MARKS if mark else {}, overwrite=overwrite)
        options.keep_rule.check_fields(files.fields_seen() if value_field else None)
        earlier = None
        if earlier_names:
            with _naming_options():
                earlier_fields = options.against_fields or options.fields
                earlier = stack.enter_context(RowFiles(earlier_names, earlier_fields, max_row_size=largest))
        failed = None if options.failed is None else Path(options.failed)
        if failed is not None:
            check_rows_output(failed, files.has, overwrite=overwrite)
        failures = stack.enter_context(FailedRows(failed) if failed is not None else nullcontext())

        def keep_failure(row: FailedRow, page: Page | None) -> None:
            if failures is not None and page is not None:  # RowFiles has added the others
                failures.add(Failed(page, row.reason), files.names[row.source])

        result = _decide_rows(
            files.rows(failures),
            options,
            settings,
            earlier_set=earlier.rows() if earlier else (),
            on_failure=keep_failure,
        )
        names_of_lists = (options.ids, options.dropped)
        lists = [None if name is None else stack.enter_context(open_new(Path(name))) for name in names_of_lists]
        if any(lists):
            _write_lists(files, result, *lists)
        if to is not None:
            _write_rows(files, result, to, settings, mark=mark, overwrite=overwrite)
        if failures is not None:
            failures.incomplete = False
        result.other_texts = files.other_texts
        add_texts(result, files.rows, earlier.rows if earlier else tuple)
    return result


@with_options(RowsDeduplication)
def deduplicate_rows(rows: Iterable[str | Mapping[str, Any]] | ArrowTable, options: RowsDeduplication) -> Deduplication:
    """Decide which of `rows`, texts or mappings with a field for the text, to keep. `deduplicate` has the parameters.

    A table is one of Arrow, pandas (from 2.2 on) or polars.

    Usage:

        result = deduplicate_rows(["one text", "another text", "one text"])
        result.kept_numbers()  # [0, 1]
        result.representatives[2]  # 0
    """

    def new_rows() -> Iterator[Row | FailedRow]:
        return _rows_in_memory(rows, options.fields, options.keep_rule.field, options.max_row_size)

    def earlier_rows() -> Iterator[Row | FailedRow]:
        return _rows_in_memory(options.against, options.against_fields or options.fields, None, options.max_row_size)

    result = _decide_rows(new_rows(), options, options.settings(), earlier_set=earlier_rows())
    if not isinstance(rows, Iterator) and not isinstance(options.against, Iterator):  # an iterator is used up
        add_texts(result, new_rows, earlier_rows)
    return result


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


def _decide_rows(
    rows: Iterable[Row | FailedRow], options: DeduplicationRun, settings: RunSettings, **others: Any
) -> Deduplication:
    with extra("cluster"):  # imported here, because Arrow takes half a second to load
        from opensearch_winnow.clusters.deduplication.deciding import decide_rows  # noqa: PLC0415

    return decide_rows(rows, options, settings, scheme=options.scheme, max_row_size=options.max_row_size, **others)


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
    """Write the ids of the kept rows, and a line about each dropped row."""
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
    """Read the two rows of the example again, if there is one, and add the text around their first differing symbol."""
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
    """Return the text around the first differing symbol in each of two texts with the same words."""
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
