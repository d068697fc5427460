"""Reads evaluation sets into an index of their passages, and counts the rows that are found."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import NamedTuple

from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.ingest.rows import FailedRow, FieldNames
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.sources import SourceError
from opensearch_winnow.ingest.sources.field_names import ValueNames
from opensearch_winnow.ingest.sources.row_fields import listed
from opensearch_winnow.operations.sets.row_text import RowTexts
from opensearch_winnow.queries.sets.passage_index import IndexedPassage, PassageIndex
from opensearch_winnow.queries.spans import merged_spans

READING = "reading evaluation sets"
FAILURES_SHOWN = 3  # rows that could not be read
MOST_SHOWN = 10  # evaluation rows that the summary of a set names

FieldContainments = Sequence[float | None]  # of each field of an evaluation row; None if no text was looked for


class FieldContainment(NamedTuple):
    """The part of a field of an evaluation row that a training row has."""

    name: str  # of the field; empty if its texts were found by their usual names
    containment: float | None  # None if no text of the field was long enough to be looked for


@answer(frozen=False)
class EvaluationField(Answer):
    """Counts the rows found in one field of an evaluation set."""

    name: str = key("The name of the field; empty if the texts were found by their usual names.")
    found: int = key("The number of rows of which a training row has a passage in this field.", default=0)
    too_short: int = key("The number of rows with a text in it that has too few words to be looked for.", default=0)
    lacking: int = key("The number of rows without a text in it.", default=0)


@dataclass(slots=True)
class EvaluationRow:
    """A row of an evaluation set."""

    set: int  # the number of its set among those named, from 0
    id: str
    containments: list[float | None]  # of each field: the largest in one training row; None if it was not looked for
    training_rows: int = 0  # in which it was found

    @property
    def is_checked(self) -> bool:
        """Return whether a text of the row was looked for."""
        return any(each is not None for each in self.containments)


@answer
class FrequentRow(Answer):
    """An evaluation row that was found in many training rows."""

    id: str = key("The id of the row.")
    training_rows: int = key("The number of training rows that hold a passage of it.")
    containment: float = key("The largest share of one of its texts that is in one training row.")
    fields: list[FieldContainment] = key("The largest share of each field that is in one training row.")


@answer(frozen=False)
class EvaluationSet(Answer):
    """The part of an evaluation set that was found."""

    name: str = key("The name of the set.")
    rows: int = key("The number of its rows.", default=0)
    found: int = key("The number of rows of which a passage is in a training row.", default=0)
    unchecked: int = key("The number of rows that failed, or have no text long enough to be looked for.", default=0)
    too_short: int = key("The number of rows with a text that was not looked for: it has too few words.", default=0)
    partly_checked: int = key("The number of these rows with another text that was looked for.", default=0)
    failed: int = key("The number of rows that could not be read.", default=0)
    fields: list[EvaluationField] = key("The fields with the texts of a row.", default_factory=list)
    training_rows: int = key("The number of training rows that hold a passage of it.", default=0)
    most: list[FrequentRow] = key("The rows found in the most training rows.", default_factory=list)
    failures: list[FailedRow] = field(default_factory=list)  # the first rows that could not be read

    def by_field(self, containments: FieldContainments) -> list[FieldContainment]:
        """Return the containments of the fields of a row with their names."""
        return [FieldContainment(each.name, found) for each, found in zip(self.fields, containments, strict=True)]


def largest(containments: FieldContainments) -> float:
    """Return the largest containment of any field; 0 if nothing was looked for."""
    return max((each for each in containments if each is not None), default=0.0)


class EvaluationSets:
    """The rows of evaluation sets and an index of their passages.

    `sets` maps the name of each set to the fields that hold the texts of its rows; without any, they are found by their
    usual names. Each text is looked for on its own, also each text of a list. The containment of a field is the largest
    of any of its texts, and that of a row the largest of any of its fields: no text hides another.
    """

    def __init__(
        self,
        sets: Mapping[str, Sequence[str]],
        id_field: str | None = None,
        *,
        words: int,
        shortest: int,
        progress: Progress = no_progress,
    ) -> None:
        self.other_texts: list[str] = []  # text files not read because their folder has files of rows
        self.sets = [
            EvaluationSet(name, fields=[EvaluationField(each) for each in dict.fromkeys(fields or [""])])
            for name, fields in sets.items()
        ]
        self.rows: dict[int, EvaluationRow] = {}  # by their number over all sets
        self._row_of = array("I")  # for each text the number of its row, and the number of its field
        self._field_of = array("I")
        self._texts: list[str] = []
        self._failed: dict[int, tuple[EvaluationSet, FailedRow]] = {}
        with ExitStack() as opened:
            first = 0
            for set_number, files in enumerate(self._open(id_field, opened)):
                self._read(set_number, files, first, progress)
                first += files.count or 0
                self.other_texts += files.other_texts
        if not self._texts:
            reasons = sorted({row.reason for _, row in self._failed.values()})
            raise WinnowError(f"no text in the evaluation sets{': ' if reasons else ''}{', '.join(reasons)}")
        progress("indexing evaluation sets", 0, None)
        self.index = PassageIndex(self._texts, words, shortest)
        self._count()

    def _open(self, id_field: str | None, opened: ExitStack) -> list[RowFiles]:
        """Open all sets; one error lists all invalid sets."""
        files, complaints = [], []
        for each in self.sets:
            kind = ValueNames if each.fields[0].name else FieldNames
            try:
                files.append(opened.enter_context(RowFiles([each.name], kind(id=id_field))))
            except SourceError as error:
                complaints.append(_naming_options(str(error)))
        if complaints:
            raise SourceError("\n".join(complaints))
        return files

    def _read(self, set_number: int, files: RowFiles, first: int, progress: Progress) -> None:
        """Read the texts of a set, field by field. `first` is the number of its first row."""
        evaluation_set, text_of = self.sets[set_number], RowTexts()
        for field_number, field_read in enumerate(evaluation_set.fields):
            name = field_read.name
            count = 0
            for row in files.rows(value_field=name or None):
                number = first + row.number
                if number % 1000 == 0:
                    progress(READING, number, None)
                if isinstance(row, FailedRow):
                    self._failed[number] = evaluation_set, row
                    continue
                count += 1
                if number not in self.rows:
                    self.rows[number] = EvaluationRow(set_number, row.page.url, [None] * len(evaluation_set.fields))
                texts = list(_strings(row.value if name else text_of(row.page)))
                field_read.lacking += not texts
                self._texts += texts
                self._row_of.extend([number] * len(texts))
                self._field_of.extend([field_number] * len(texts))
            if name and count and field_read.lacking == count:  # it may be misspelt
                seen = files.fields_seen()
                fields = f": its fields are {listed(seen)}" if seen else ""
                raise WinnowError(
                    f"{evaluation_set.name} has no row with a text in the field {name}{fields}; --against FILE:FIELD "
                    "names the fields of one set, and --eval-field those of all others"
                )

    def _count(self) -> None:
        """Count the rows by whether their texts are long enough to be looked for."""
        short: set[tuple[int, int]] = set()  # fields of rows with a text that cannot
        for length, number, field_number in zip(self.index.lengths, self._row_of, self._field_of, strict=True):
            if length >= self.index.shortest:
                self.rows[number].containments[field_number] = 0.0
            else:
                short.add((number, field_number))
        for number, field_number in short:
            self.sets[self.rows[number].set].fields[field_number].too_short += 1
        for number in {number for number, _ in short}:
            row = self.rows[number]
            self.sets[row.set].too_short += 1
            self.sets[row.set].partly_checked += row.is_checked
        for row in self.rows.values():
            self.sets[row.set].rows += 1
            self.sets[row.set].unchecked += not row.is_checked
        for each, failed in self._failed.values():
            each.rows += 1
            each.unchecked += 1
            each.failed += 1
            if len(each.failures) < FAILURES_SHOWN:
                each.failures.append(failed)

    def set_of(self, number: int) -> EvaluationSet:
        """Return the set of an evaluation row, by its number."""
        return self.sets[self.rows[number].set]

    def field_of(self, passage: IndexedPassage) -> str:
        """Return the name of the field that a passage is from."""
        return self.set_of(self.number_of(passage)).fields[self._field_of[passage.text]].name

    def number_of(self, passage: IndexedPassage) -> int:
        """Return the number of the evaluation row that a passage is from."""
        return self._row_of[passage.text]

    def containments(self, passages: Iterable[IndexedPassage]) -> Mapping[int, FieldContainments]:
        """Return the share of each field of evaluation rows, by their number, in these passages of a training row."""
        spans: dict[int, list[tuple[int, int]]] = {}
        for each in passages:
            spans.setdefault(each.text, []).append((each.other_first_word, each.other_first_word + each.words))
        found: dict[int, list[float | None]] = {}
        for text, parts in spans.items():
            number, field_number = self._row_of[text], self._field_of[text]
            if number not in found:
                found[number] = [None if each is None else 0.0 for each in self.rows[number].containments]
            share = sum(end - start for start, end in merged_spans(parts)) / self.index.lengths[text]
            found[number][field_number] = max(found[number][field_number] or 0.0, share)
        return found

    def add_found(self, containments: Mapping[int, FieldContainments]) -> None:
        """Count a training row that holds these shares of evaluation rows."""
        for number, found in containments.items():
            row = self.rows[number]
            row.training_rows += 1
            row.containments = [
                old if new is None else max(old or 0.0, new) for old, new in zip(row.containments, found, strict=True)
            ]
        for set_number in {self.rows[number].set for number in containments}:
            self.sets[set_number].training_rows += 1

    def summary(self) -> list[EvaluationSet]:
        """Return the figures of each set so far."""
        found: list[list[EvaluationRow]] = [[] for _ in self.sets]
        for row in self.rows.values():
            if row.training_rows:
                found[row.set].append(row)
        for each, rows in zip(self.sets, found, strict=True):
            each.found = len(rows)
            for i, field_found in enumerate(each.fields):
                field_found.found = sum(bool(row.containments[i]) for row in rows)
            most = sorted(rows, key=lambda row: (-row.training_rows, -largest(row.containments)))[:MOST_SHOWN]
            each.most = [
                FrequentRow(row.id, row.training_rows, largest(row.containments), each.by_field(row.containments))
                for row in most
            ]
        return self.sets


def _naming_options(message: str) -> str:
    """Return an error about the fields of an evaluation set with the options that name them."""
    for name, option, parameter in (("text", "--eval-field", "eval_fields"), ("id", "--eval-id-field", "eval_id")):
        message = message.replace(f"--{name}-field", option).replace(f"FieldNames({name}=…)", parameter)
    return message


def _strings(value: object) -> Iterator[str]:
    """Yield the texts in the value of a field: itself, or those of its lists and objects."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for each in value.values():
            yield from _strings(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _strings(each)
