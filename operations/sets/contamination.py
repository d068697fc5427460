"""Finds the training rows that hold passages of evaluation sets, lists them, and writes the others."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.keywords import with_options
from opensearch_winnow.foundation.option_kinds import FLAG, number, path, repeated, share, text
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.path_names import PathName, path_names
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.ingest.rows import Edit, FailedRow, FieldNames, Row
from opensearch_winnow.ingest.rows.output import check_rows_output
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.runs.failed_pages import FailedRows
from opensearch_winnow.ingest.sources.field_names import USUAL
from opensearch_winnow.ingest.sources.split import Failed
from opensearch_winnow.operations.sets.evaluation_sets import (
    EvaluationSet,
    EvaluationSets,
    FieldShares,
    largest,
    shares_document,
)
from opensearch_winnow.operations.sets.repeated_passages import has_words, without_passages
from opensearch_winnow.operations.sets.row_text import RowTexts
from opensearch_winnow.queries.sets.passage_index import DEFAULT_SHORTEST, DEFAULT_WORDS, IndexedPassage
from opensearch_winnow.queries.spans import Span, merged_spans
from opensearch_winnow.record_files.answer_table import AnswerTable, check_table

CHECKING = "checking training rows"
WRITING = "writing the cleaned set"
NO_TEXT = "no text in its HTML"
LIST_COLUMNS = {
    "id": str,
    "row": int,
    "passages": int,
    "words": int,
    "share": float,
    "evaluation_share": float,
    "evaluation_rows": [{"set": str, "id": str, "share": float, "fields": [{"name": str, "share": float}]}],
}
SPAN_COLUMNS = {
    "id": str,
    "row": int,
    "start": int,
    "end": int,
    "words": int,
    "set": str,
    "other_id": str,
    "other_field": str,
    "other_start": int,
    "other_end": int,
    "text": str,
}


@dataclass(frozen=True, slots=True)
class FoundEvaluation:
    """An evaluation row that a training row has passages of."""

    set: str
    id: str
    share: float  # that the training row has of it: the largest of any field
    fields: Mapping[str, float | None]  # the share of each field; None if no text of it was long enough to look for

    def as_document(self) -> dict[str, object]:
        """Return the row as JSON has it."""
        return {
            "set": self.set,
            "id": self.id,
            "share": round(self.share, 4),
            "fields": shares_document(self.fields),
        }


@dataclass(frozen=True, slots=True)
class ContaminatedRow:
    """A training row that holds passages of evaluation sets."""

    id: str
    row: int  # from 0, over all training sets
    passages: int
    spans: list[Span]  # of its text that are in evaluation sets: those of the passages, merged and in order
    words: int  # in these spans
    share: float  # of all words of the row
    evaluation_rows: list[FoundEvaluation]  # the largest share first

    def as_document(self) -> dict[str, object]:
        """Return the row as JSON has it."""
        return {
            "id": self.id,
            "row": self.row,
            "passages": self.passages,
            "words": self.words,
            "share": round(self.share, 4),
            "evaluation_share": round(self.evaluation_rows[0].share, 4),
            "evaluation_rows": [each.as_document() for each in self.evaluation_rows],
        }


@dataclass(frozen=True, slots=True, repr=False)
class Contamination:
    """The passages of evaluation sets that training sets have."""

    rows: int  # training rows
    contaminated: int  # of these, rows that hold a passage
    failed: Counter[str]  # training rows that could not be checked, by reason
    found: list[ContaminatedRow]  # empty if they were written to a file
    evaluation_sets: list[EvaluationSet]
    words: int  # in a passage, at least
    shortest: int  # words of an evaluation text that is looked for as a whole
    min_share: float  # of an evaluation row, at which it counts
    below_share: int  # training rows that hold passages, but of no evaluation row as much as `min_share`
    seconds: float
    kept: int | None = None  # rows of the cleaned set
    cut: int = 0  # of these, rows that passages were cut out of
    other_texts: Sequence[str] = ()  # files that were not read, beside files of rows

    def __repr__(self) -> str:
        return (
            f"<Contamination: {self.contaminated} of {self.rows} rows contaminated, {sum(self.failed.values())} failed>"
        )

    def as_document(self) -> dict[str, object]:
        """Return the summary as JSON has it."""
        cleaned = {} if self.kept is None else {"kept": self.kept, "cut": self.cut}
        return {
            "rows": self.rows,
            "contaminated": self.contaminated,
            "failed": sum(self.failed.values()),
            **cleaned,
            "words": self.words,
            "short": self.shortest,
            "min_share": self.min_share,
            "below_share": self.below_share,
            "evaluation_sets": [each.as_document() for each in self.evaluation_sets],
            "seconds": round(self.seconds, 3),
        }


@dataclass(slots=True)
class _Checked:
    """The outcome of a pass over the training rows."""

    rows: int = 0
    below_share: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    unread: set[int] = field(default_factory=set)  # the numbers of failed rows
    edits: dict[int, str | None] = field(default_factory=dict)  # by number: the text left, None for a row to drop


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationOptions(Options):
    """Options of `contaminated`: what counts, how rows are read, and what is written."""

    words: int = option(DEFAULT_WORDS, number(1, 10_000), "Minimum length of a passage.")
    shortest: int = option(
        DEFAULT_SHORTEST,
        number(1, 10_000),
        "Look for an evaluation text with fewer words than a passage as a whole, if it has at least this many.",
        flag="--short",
    )
    min_share: float = option(
        0.0, share(), "Count an evaluation row only where a training row has this share of one of its texts."
    )
    fields: FieldNames = USUAL
    eval_fields: str | Sequence[str] = option(
        (),
        repeated(text("NAME")),
        "A field of an evaluation row that holds a text, or a list of texts. Can be repeated. Counts for the sets that"
        " name no fields of their own.",
        flag="--eval-field",
    )
    eval_id: str | None = option(
        None, text("NAME"), "The field of an evaluation row that holds its id.", flag="--eval-id-field"
    )
    to: PathName | None = option(
        None, path("OUT"), "Write the contaminated rows to this file: .jsonl, .csv or .parquet."
    )
    spans: PathName | None = option(None, path("OUT"), "Write every passage, with its offsets, to this file.")
    clean: PathName | None = option(
        None,
        path("OUT"),
        "Write the training rows without the contaminated ones to this file, in their own format; or to this folder.",
    )
    cut: bool = option(False, FLAG, "With --clean: cut out the passages, and keep the rest of their rows.")
    failed: PathName | None = option(
        None,
        path("FILE", "file"),
        "The file for training rows that cannot be read: JSON lines.",
        unset="OUT.failed.jsonl, with --clean OUT",
    )
    max_row_size: int = MAX_PAGE_BYTES
    overwrite: bool = False
    progress: Progress | None = None


@with_options(ContaminationOptions)
def contaminated(
    train: PathName | Iterable[PathName],
    against: PathName | Iterable[PathName] | Mapping[PathName, str | Sequence[str]],
    options: ContaminationOptions,
) -> Contamination:
    """Find the rows of `train` that hold passages of at least `words` words of the evaluation sets `against`.

    Both are names of files or folders. Case, punctuation and line breaks do not count. An evaluation text of fewer than
    `words` words is looked for as a whole if it has at least `shortest`. With `min_share`, an evaluation row counts
    only where a training row has that share of the words of one of its texts.

    `eval_fields` name the fields that hold the texts of an evaluation row: each is a text, a list of texts, or an
    object with texts. If sets have different fields, `against` maps each name to its own:
    `{"mmlu.jsonl": ["question", "choices"], "gsm8k.jsonl": "question"}`.

    The rows that were found are returned, or written to the table `to`. `spans` is a table of every passage. `clean`
    receives the training rows without those that were found; with `cut`, without their passages. Training rows that
    cannot be read, or have a text of more than `max_row_size` bytes, are in the file `failed`. `progress` is called
    with the phase, the amount done, and None.
    """
    start = time.monotonic()
    progress, overwrite, clean = options.progress or no_progress, options.overwrite, options.clean
    for table in (options.to, options.spans):
        if table:
            check_table(Path(table), overwrite=overwrite)
    found: list[ContaminatedRow] = []
    count = kept = cut_rows = 0
    checked = _Checked()
    with ExitStack() as opened:
        files = opened.enter_context(RowFiles(path_names(train), options.fields, max_row_size=options.max_row_size))
        if clean:
            files.check_output(clean, overwrite=overwrite)
        failed = Path(options.failed) if options.failed else None
        if failed:
            check_rows_output(failed, files.has, overwrite=overwrite)
        failures = opened.enter_context(FailedRows(failed)) if failed else None
        evaluation = EvaluationSets(
            _fields_by_set(against, options.eval_fields),
            options.eval_id,
            words=options.words,
            shortest=options.shortest,
            progress=progress,
        )
        listed, passages = (
            opened.enter_context(AnswerTable(Path(table), columns, overwrite=overwrite)) if table else None
            for table, columns in ((options.to, LIST_COLUMNS), (options.spans, SPAN_COLUMNS))
        )
        for page, whole, some, row in _found(
            files, evaluation, options.min_share, RowTexts(options.max_row_size), checked, failures, progress
        ):
            count += 1
            if listed:
                listed.add(*row.as_document().values())
            else:
                found.append(row)
            if passages:
                for each in some:
                    passages.add(*_span_values(row, each, whole, evaluation))
            if clean:
                checked.edits[row.row] = _without_spans(page, whole, row.spans) if options.cut else None
        if clean:
            progress(WRITING, 0, None)
            kept = files.write(clean, lambda number: _edit(number, checked), overwrite=overwrite)
            cut_rows = sum(left is not None for left in checked.edits.values())
        if failures:
            failures.incomplete = False
    return Contamination(
        checked.rows,
        count,
        checked.failed,
        found,
        evaluation.summary(),
        options.words,
        evaluation.index.shortest,
        options.min_share,
        checked.below_share,
        time.monotonic() - start,
        kept if clean else None,
        cut_rows,
        [*files.other_texts, *evaluation.other_texts],
    )


def _found(
    files: RowFiles,
    evaluation: EvaluationSets,
    min_share: float,
    text_of: RowTexts,
    checked: _Checked,
    failures: FailedRows | None,
    progress: Progress,
) -> Iterator[tuple[Page, str, list[IndexedPassage], ContaminatedRow]]:
    """Yield each contaminated row with its text and its passages."""
    for row in files.rows(failures):
        checked.rows += 1
        if checked.rows % 1000 == 0:
            progress(CHECKING, checked.rows, None)
        text = None if isinstance(row, FailedRow) else text_of(row.page)
        if isinstance(row, FailedRow) or text is None:
            checked.failed[row.reason if isinstance(row, FailedRow) else NO_TEXT] += 1
            checked.unread.add(row.number)
            if failures and isinstance(row, Row):  # RowFiles has added the others
                failures.add(Failed(row.page, NO_TEXT), files.names[row.source])
            continue
        canonical = canonical_text(text)
        passages = evaluation.index.find_canonical(canonical)
        if not passages:
            continue
        shares = {
            number: fields for number, fields in evaluation.shares(passages).items() if largest(fields) >= min_share
        }
        if not shares:
            checked.below_share += 1
            continue
        passages = [each for each in passages if evaluation.number_of(each) in shares]
        evaluation.add_found(shares)
        words = sum(
            end - start for start, end in merged_spans((e.first_word, e.first_word + e.words) for e in passages)
        )
        yield (
            row.page,
            text,
            passages,
            ContaminatedRow(
                row.page.url,
                row.number,
                len(passages),
                merged_spans((each.start, each.end) for each in passages),
                words,
                words / len(canonical.words),
                _evaluations(shares, evaluation),
            ),
        )


def _fields_by_set(
    against: PathName | Iterable[PathName] | Mapping[PathName, str | Sequence[str]], eval_fields: str | Sequence[str]
) -> dict[str, Sequence[str]]:
    """Return the fields of each evaluation set: its own, or else `eval_fields`."""
    named = against if isinstance(against, Mapping) else dict.fromkeys(path_names(against), ())
    fields = {os.fspath(name): own or eval_fields for name, own in named.items()}
    return {name: [each] if isinstance(each, str) else each for name, each in fields.items()}


def _evaluations(shares: Mapping[int, FieldShares], evaluation: EvaluationSets) -> list[FoundEvaluation]:
    found = []
    for row_number, fields in shares.items():
        row, its_set = evaluation.rows[row_number], evaluation.set_of(row_number)
        found.append(FoundEvaluation(its_set.name, row.id, largest(fields), its_set.shares_of(row, fields)))
    return sorted(found, key=lambda each: -each.share)


def _span_values(
    row: ContaminatedRow, passage: IndexedPassage, text: str, evaluation: EvaluationSets
) -> tuple[object, ...]:
    number = evaluation.number_of(passage)
    return (
        row.id,
        row.row,
        passage.start,
        passage.end,
        passage.words,
        evaluation.set_of(number).name,
        evaluation.rows[number].id,
        evaluation.field_of(passage),
        passage.other_start,
        passage.other_end,
        text[passage.start : passage.end],
    )


def _without_spans(page: Page, text: str, spans: Sequence[Span]) -> str | None:
    """Return a text without these spans; None if no word is left."""
    if page.text is None:
        raise WinnowError(
            f"{page.url} is HTML, out of which no passage can be cut: name its field with --text-field if it is text, "
            "or drop rows, without --cut"
        )
    left = without_passages(text, spans)
    return left if has_words(left) else None


def _edit(number: int, checked: _Checked) -> Edit | None:
    if number in checked.unread:
        return None  # not checked: a cleaned set has only rows that were
    if number not in checked.edits:
        return Edit()
    text = checked.edits[number]
    return None if text is None else Edit(text)
