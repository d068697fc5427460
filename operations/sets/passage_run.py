"""Finds the repeated passages of files of rows: cuts them out, lists them, or both."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import KW_ONLY, dataclass, field
from functools import partial
from pathlib import Path

from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.keywords import with_options
from opensearch_winnow.foundation.option_kinds import path
from opensearch_winnow.foundation.options import option, option_of
from opensearch_winnow.foundation.path_names import PathName, path_names
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.ingest.encoding import encoding_of, to_text
from opensearch_winnow.ingest.page_record import is_plain
from opensearch_winnow.ingest.rows import Edit, FailedRow, Row
from opensearch_winnow.ingest.rows.output import check_folder, check_rows_output
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.runs.failed_pages import FailedRows
from opensearch_winnow.operations.sets.deduplication import FileDeduplication
from opensearch_winnow.operations.sets.passage_files import AttributeFiles, add_passages, attribute_name, passage_table
from opensearch_winnow.operations.sets.repeated_passages import (
    Occurrences,
    PassageOptions,
    RepeatedPassage,
    RepeatedPassageFinder,
    has_words,
    without_passages,
)
from opensearch_winnow.operations.sets.row_options import RowOptions

READING = "reading rows"
FINDING = "finding passages"
ROWS_PER_REPORT = 1_000
MAX_FREQUENT = 5  # passages that a summary lists
BEGINNING = 80  # characters of a passage in a summary

AddPassages = Callable[[Row | FailedRow, Sequence[RepeatedPassage]], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageOutputs(PassageOptions):
    """The definition of a repeated passage, and the files that list passages."""

    spans: PathName | None = option(
        None,
        path("OUT", "file"),
        "With --passages: write the positions of the passages to this file: .jsonl, .csv or .parquet.",
        advanced=True,
    )
    attributes: PathName | None = option(
        None,
        path("FOLDER", "folder"),
        "With --passages: write the same as attributes in the format of Dolma, a file for each source.",
        advanced=True,
    )


@dataclass(frozen=True, slots=True)
class PassageRun(RowOptions, PassageOutputs):
    """A run that finds repeated passages: the fields of rows, and the outputs."""

    to: PathName | None = option_of(FileDeduplication, "to")
    _: KW_ONLY
    failed: PathName | None = option_of(FileDeduplication, "failed")
    overwrite: bool = option_of(RunSettings, "overwrite")
    work: PathName | None = option_of(RunSettings, "work")


@answer
class FrequentPassage(Answer):
    """One of the passages that most rows have, and its first occurrence."""

    count: int = key("The number of rows that have it.")
    row: int = key("The number of the first of these rows, from 0.")
    id: str = key("The id of this row.")
    start: int = key("The offset of its beginning in the text of this row, in code points.")
    end: int = key("The offset of its end.")
    beginning: str = key("Its first characters.")


@answer(frozen=False)
class PassagesResult(Answer):
    """The passages that were found in a set, and the outcomes of its rows: each is kept, dropped or failed."""

    rows: int = key("The number of rows: those kept, dropped and failed.", default=0)
    kept: int = key("The number of rows that are kept.", default=0)
    dropped: int = key("The number of rows that are dropped because no words were left.", default=0)
    failed: int = key("The number of rows that could not be read.", default=0)
    passages: int = key("The number of passages.", default=0)
    rows_with_passages: int = key("The number of rows that have one.", default=0)
    characters: int = key("The number of code points of all texts.", default=0)
    characters_in_passages: int = key("The number of these code points that are in passages.", default=0)
    words: int = key("The minimum number of words of a passage.", default=0)
    documents: int = key("The minimum number of rows that have it.", default=0)
    occurrences: Occurrences = key("The occurrences that are cut: all but the first, or every one.", default="later")
    most_frequent: list[FrequentPassage] = key("The passages that most rows have.", default_factory=list)
    failures: Counter[str] = key("The number of failed rows for each reason.", default_factory=Counter)
    other_texts: list[str] = field(default_factory=list)  # text files not read because their folder has files of rows
    seconds: float = key("The time it took.", default=0.0)

    def __repr__(self) -> str:
        passages = f"{self.passages} passages in {self.rows_with_passages} of {self.rows} rows"
        return f"<PassagesResult: {passages}, {self.kept} kept, {self.dropped} dropped>"

    def add(self, row: Row, text: str, passages: Sequence[RepeatedPassage]) -> None:
        """Count the passages of a row."""
        self.characters += len(text)
        self.rows_with_passages += bool(passages)
        self.passages += len(passages)
        for start, end, count in passages:
            self.characters_in_passages += end - start
            frequent = self.most_frequent
            if len(frequent) < MAX_FREQUENT or count > frequent[-1].count:
                beginning = " ".join(text[start : min(end, start + 2 * BEGINNING)].split())[:BEGINNING]
                if all(beginning.casefold() != each.beginning.casefold() for each in frequent):
                    frequent.append(FrequentPassage(count, row.number, row.page.url, start, end, beginning))
                    frequent.sort(key=lambda each: (-each.count, each.row))
                    del frequent[MAX_FREQUENT:]


@with_options(PassageRun)
def repeated_passages(sources: PathName | Iterable[PathName], options: PassageRun) -> PassagesResult:
    """Find passages of at least `words` words that at least `documents` rows of `sources` have, exactly.

    `to` gets the rows without these passages: without all occurrences but the first, or without every one. A row
    without words left is dropped, and one that cannot be read, or has a text of more than `max_row_size` bytes, is left
    out and in the file `failed`. `spans` is a table of the cuts, in JSON lines, CSV or Parquet; `attributes` a
    folder of files that are aligned with the sources. Each output appears when it is complete. `fields` names the
    fields of rows that have unusual names. The folder `work`, by default that of the first output, takes 12 bytes for
    each word of the texts.
    """
    start = time.monotonic()
    to, fields, overwrite = options.to, options.fields, options.overwrite
    report = options.progress or no_progress
    passages = options.part(PassageOptions)
    result = PassagesResult(**passages.keywords())
    with ExitStack() as stack:
        files = stack.enter_context(
            RowFiles(path_names(sources), fields, fields.id or "id", max_row_size=options.max_row_size)
        )
        finder = stack.enter_context(RepeatedPassageFinder(passages, _work_folder(options)))
        outputs: list[AddPassages] = []
        begin = None
        if options.spans:
            table = stack.enter_context(passage_table(Path(options.spans), files.has, overwrite=overwrite))
            outputs.append(partial(add_passages, table))
        if options.attributes:
            attributes = Path(options.attributes)
            check_folder(attributes, map(attribute_name, files.files()))
            aligned = stack.enter_context(AttributeFiles(attributes, files.has, overwrite=overwrite))
            outputs.append(aligned.add)
            begin = aligned.begin
        if to:
            files.check_output(to, overwrite=overwrite)  # now, because the work takes long
        failed = Path(options.failed) if options.failed else None
        if failed:
            check_rows_output(failed, files.has, overwrite=overwrite)
        failures = stack.enter_context(FailedRows(failed)) if failed else None
        for row in files.rows(failures):
            if row.number % ROWS_PER_REPORT == 0:
                report(READING, row.number, None)
            if isinstance(row, Row):
                finder.add(_text(row))
        finder.count(report)
        decide = _decisions(files.rows(reading=begin), finder, outputs, result, report, files.count)
        if to:
            files.write(to, decide, overwrite=overwrite)
        else:
            for number in range(files.count or 0):
                decide(number)
        if failures:
            failures.incomplete = False
        result.other_texts = files.other_texts
    result.seconds = round(time.monotonic() - start, 3)
    return result


def _decisions(
    rows: Iterator[Row | FailedRow],
    finder: RepeatedPassageFinder,
    outputs: Sequence[AddPassages],
    result: PassagesResult,
    progress: Progress,
    total: int | None,
) -> Callable[[int], Edit | None]:
    """Return a function that decides on the rows one after another, and adds each to `outputs` and `result`."""

    def decide(number: int) -> Edit | None:
        if number % ROWS_PER_REPORT == 0:
            progress(FINDING, number, total)
        row = next(rows, None)
        if row is None:
            raise WinnowError("the sources have changed since they were read: start again")
        result.rows += 1
        text = ""
        found: list[RepeatedPassage] = []
        if isinstance(row, FailedRow):
            result.failed += 1
            result.failures[row.reason] += 1
        else:
            text = _text(row)
            found = finder.passages(text)
        for add in outputs:
            add(row, found)
        if isinstance(row, FailedRow):
            return None
        result.add(row, text, found)
        rest = without_passages(text, found)
        if found and not has_words(rest):
            result.dropped += 1
            return None
        result.kept += 1
        return Edit(rest if found else None)

    return decide


def _text(row: Row) -> str:
    """Return the text of a row unchanged, from its first character on."""
    page = row.page
    if isinstance(page.html, bytes) and is_plain(page.content_type) and not page.codings:  # a text file of a folder
        return to_text(page.html, encoding_of(page.html, page.content_type, markup=False))
    if page.html is not None:
        raise WinnowError(
            f"{page.url} is HTML, and passages are cut out of texts: name the field of the text with --text-field, or "
            "extract the texts first"
        )
    return page.text or ""


def _work_folder(options: PassageRun) -> Path | None:
    if options.work:
        return Path(options.work)
    named = [Path(each) for each in (options.to, options.spans, options.attributes) if each]
    return named[0].absolute().parent if named else None
