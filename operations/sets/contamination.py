"""Finds the training rows that hold passages of evaluation sets, lists them, and writes the others."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.keywords import with_options
from opensearch_winnow.foundation.option_kinds import FLAG, number, path, repeated, share, text
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.foundation.path_names import PathName, path_names
from opensearch_winnow.foundation.progress import no_progress
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows import Edit, FailedRow, Row
from opensearch_winnow.ingest.rows.output import check_rows_output
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.runs.failed_pages import FailedRows
from opensearch_winnow.ingest.sources.split import Failed
from opensearch_winnow.operations.sets.evaluation_sets import (
    EvaluationSet,
    EvaluationSets,
    FieldContainment,
    FieldContainments,
    largest,
)
from opensearch_winnow.operations.sets.repeated_passages import has_words, without_passages
from opensearch_winnow.operations.sets.row_options import RowOptions
from opensearch_winnow.operations.sets.row_text import RowTexts
from opensearch_winnow.queries.sets.passage_index import DEFAULT_SHORTEST, DEFAULT_WORDS, IndexedPassage
from opensearch_winnow.queries.spans import Span, merged_spans
from opensearch_winnow.record_files.answer_table import AnswerTable, check_table

CHECKING = "checking training rows"
WRITING = "writing the cleaned set"
NO_TEXT = "no text in its HTML"


@answer
class FoundEvaluation(Answer):
    """An evaluation row that a training row has passages of."""

    set: str = key("The name of its set.")
    id: str = key("The id of the row.")
    containment: float = key("The share of one of its texts that is in the training row: the largest of any field.")
    fields: list[FieldContainment] = key("The largest such share of each field.")


@answer
class ContaminatedRow(Answer):
    """A training row that holds passages of evaluation sets."""

    id: str = key("The id of the training row.")
    row: int = key("Its number, from 0, over all training sets.")
    passages: int = key("The number of passages.")
    spans: list[Span]  # of its text that are in evaluation sets: the spans of the passages, merged and in order
    words: int = key("The number of its words that are in passages.")
    share: float = key("The share of its words that are in passages.")
    containment: float = key("The largest containment of an evaluation row in it.")
    set: str = key("The name of the set that has this evaluation row.")
    evaluation_id: str = key("The id of this evaluation row.")
    evaluation_rows: list[FoundEvaluation] = key(
        "The evaluation rows, the one with the largest containment first.", column=len
    )


@answer
class FoundPassage(Answer):
    """A passage of an evaluation row in a training row, with offsets in code points."""

    id: str = key("The id of the training row.")
    row: int = key("Its number, from 0, over all training sets.")
    start: int = key("The offset of its beginning in the text of the training row.")
    end: int = key("The offset of its end there.")
    words: int = key("The number of its words.")
    set: str = key("The name of the evaluation set.")
    other_id: str = key("The id of the evaluation row.")
    other_field: str = key("The field of the evaluation row.")
    other_start: int = key("The offset of its beginning in the text of the evaluation row.")
    other_end: int = key("The offset of its end there.")
    text: str = key("The passage, as the training row has it.")


@answer
class Contamination(Answer):
    """The passages of evaluation sets that training sets have."""

    rows: int = key("The number of training rows.")
    contaminated: int = key("The number of training rows that hold a passage.")
    failed: int = key("The number of training rows that could not be checked.")
    kept: int | None = key("The number of rows of the cleaned set; null if none was written.")
    cut: int = key("The number of these rows that passages were cut out of.")
    words: int = key("The minimum number of words of a passage.")
    short: int = key("The minimum number of words of an evaluation text that is looked for as a whole.")
    min_containment: float = key("The containment from which an evaluation row counts.")
    below_containment: int = key("The number of training rows with passages, but below `min_containment`.")
    failures: Counter[str] = key("The number of failed training rows for each reason.")
    evaluation_sets: list[EvaluationSet] = key("The evaluation sets.")
    found: list[ContaminatedRow] = key("The contaminated rows; none if they were written to a file.")
    other_texts: Sequence[str]  # text files not read because their folder has files of rows
    seconds: float = key("The time it took.")

    def __repr__(self) -> str:
        return f"<Contamination: {self.contaminated} of {self.rows} rows contaminated, {self.failed} failed>"


@dataclass(slots=True)
class _Checked:
    """The outcome of a pass over the training rows."""

    rows: int = 0
    below_containment: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    unread: set[int] = field(default_factory=set)  # the numbers of failed rows
    edits: dict[int, str | None] = field(default_factory=dict)  # by number: the text left, None for a row to drop


@dataclass(frozen=True, slots=True, kw_only=True)
class ContaminationOptions(RowOptions):
    """Options of `contaminated`: the limits of a passage, the fields of rows, and the outputs."""

    words: int = option(DEFAULT_WORDS, number(1, 10_000), "Minimum length of a passage.")
    short: int = option(
        DEFAULT_SHORTEST,
        number(1, 10_000),
        "Look for an evaluation text with fewer words than a passage as a whole, if it has at least this many.",
    )
    min_containment: float = option(
        0.0, share(), "Count an evaluation row only where at least X of one of its texts is in a training row."
    )
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
    spans: PathName | None = option(
        None, path("OUT"), "Write every passage, with its offsets, to this file.", advanced=True
    )
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
    overwrite: bool = option_of(RunSettings, "overwrite")

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        if self.cut and not self.clean:
            raise self.error("cut needs clean, which names the file to write")


@with_options(ContaminationOptions)
def contaminated(
    train: PathName | Iterable[PathName],
    against: PathName | Iterable[PathName] | Mapping[PathName, str | Sequence[str]],
    options: ContaminationOptions,
) -> Contamination:
    """Find the rows of `train` that hold passages of at least `words` words of the evaluation sets `against`.

    Both are names of files or folders. Case, punctuation and line breaks do not count. An evaluation text of fewer than
    `words` words is looked for as a whole if it has at least `short`. With `min_containment`, an evaluation row counts
    only where that share of the words of one of its texts is in a training row.

    `eval_fields` name the fields that hold the texts of an evaluation row: each is a text, a list of texts, or an
    object with texts. If sets have different fields, `against` maps each name to its own:
    `{"mmlu.jsonl": ["question", "choices"], "gsm8k.jsonl": "question"}`.

    The rows that were found are returned, or written to the table `to`. `spans` is a table of every passage. `clean`
    receives the training rows without the contaminated ones; with `cut`, without their passages. Training rows that
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
            shortest=options.short,
            progress=progress,
        )
        listed, passages = (
            opened.enter_context(AnswerTable.of(Path(table), row, overwrite=overwrite)) if table else None
            for table, row in ((options.to, ContaminatedRow), (options.spans, FoundPassage))
        )
        for page, whole, some, row in _found(files, evaluation, options, checked, failures):
            count += 1
            if listed:
                listed.add_answer(row)
            else:
                found.append(row)
            if passages:
                for each in some:
                    passages.add_answer(_found_passage(row, each, whole, evaluation))
            if clean:
                checked.edits[row.row] = _without_spans(page, whole, row.spans) if options.cut else None
        if clean:
            progress(WRITING, 0, None)
            kept = files.write(clean, lambda number: _edit(number, checked), overwrite=overwrite)
            cut_rows = sum(left is not None for left in checked.edits.values())
        if failures:
            failures.incomplete = False
    return Contamination(
        rows=checked.rows,
        contaminated=count,
        failed=checked.failures.total(),
        kept=kept if clean else None,
        cut=cut_rows,
        words=options.words,
        short=evaluation.index.shortest,
        min_containment=options.min_containment,
        below_containment=checked.below_containment,
        failures=checked.failures,
        evaluation_sets=evaluation.summary(),
        found=found,
        other_texts=[*files.other_texts, *evaluation.other_texts],
        seconds=round(time.monotonic() - start, 3),
    )


def _found(
    files: RowFiles,
    evaluation: EvaluationSets,
    options: ContaminationOptions,
    checked: _Checked,
    failures: FailedRows | None,
) -> Iterator[tuple[Page, str, list[IndexedPassage], ContaminatedRow]]:
    """Yield each contaminated row with its text and its passages."""
    progress, text_of = options.progress or no_progress, RowTexts(options.max_row_size)
    for row in files.rows(failures):
        checked.rows += 1
        if checked.rows % 1000 == 0:
            progress(CHECKING, checked.rows, None)
        text = None if isinstance(row, FailedRow) else text_of(row.page)
        if isinstance(row, FailedRow) or text is None:
            checked.failures[row.reason if isinstance(row, FailedRow) else NO_TEXT] += 1
            checked.unread.add(row.number)
            if failures and isinstance(row, Row):  # RowFiles has added the others
                failures.add(Failed(row.page, NO_TEXT), files.names[row.source])
            continue
        canonical = canonical_text(text)
        passages = evaluation.index.find_canonical(canonical)
        if not passages:
            continue
        counted = {
            number: fields
            for number, fields in evaluation.containments(passages).items()
            if largest(fields) >= options.min_containment
        }
        if not counted:
            checked.below_containment += 1
            continue
        passages = [each for each in passages if evaluation.number_of(each) in counted]
        evaluation.add_found(counted)
        covered = merged_spans((each.first_word, each.first_word + each.words) for each in passages)
        words = sum(end - start for start, end in covered)
        most, *others = _evaluations(counted, evaluation)
        found = ContaminatedRow(
            id=row.page.url,
            row=row.number,
            passages=len(passages),
            spans=merged_spans((each.start, each.end) for each in passages),
            words=words,
            share=words / len(canonical.words),
            containment=most.containment,
            set=most.set,
            evaluation_id=most.id,
            evaluation_rows=[most, *others],
        )
        yield row.page, text, passages, found


def _fields_by_set(
    against: PathName | Iterable[PathName] | Mapping[PathName, str | Sequence[str]], eval_fields: str | Sequence[str]
) -> dict[str, Sequence[str]]:
    """Return the fields of each evaluation set: its own, or else `eval_fields`."""
    named = against if isinstance(against, Mapping) else dict.fromkeys(path_names(against), ())
    fields = {os.fspath(name): own or eval_fields for name, own in named.items()}
    return {name: [each] if isinstance(each, str) else each for name, each in fields.items()}


def _evaluations(counted: Mapping[int, FieldContainments], evaluation: EvaluationSets) -> list[FoundEvaluation]:
    found = []
    for row_number, fields in counted.items():
        row, its_set = evaluation.rows[row_number], evaluation.set_of(row_number)
        found.append(FoundEvaluation(its_set.name, row.id, largest(fields), its_set.by_field(fields)))
    return sorted(found, key=lambda each: -each.containment)


def _found_passage(
    row: ContaminatedRow, passage: IndexedPassage, text: str, evaluation: EvaluationSets
) -> FoundPassage:
    number = evaluation.number_of(passage)
    return FoundPassage(
        id=row.id,
        row=row.row,
        start=passage.start,
        end=passage.end,
        words=passage.words,
        set=evaluation.set_of(number).name,
        other_id=evaluation.rows[number].id,
        other_field=evaluation.field_of(passage),
        other_start=passage.other_start,
        other_end=passage.other_end,
        text=text[passage.start : passage.end],
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
        return None  # not checked: a cleaned set has only checked rows
    if number not in checked.edits:
        return Edit()
    text = checked.edits[number]
    return None if text is None else Edit(text)
