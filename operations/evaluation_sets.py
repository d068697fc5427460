"""Reads evaluation sets into an index of their passages, and keeps account of which of their rows are found."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.ingest.rows import FailedRow, FieldNames, Row
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.ingest.sources import SourceError
from opensearch_winnow.ingest.sources.row_fields import listed
from opensearch_winnow.operations.row_text import RowTexts
from opensearch_winnow.queries.passage_index import IndexedPassage, PassageIndex
from opensearch_winnow.queries.spans import merged_spans

READING = "reading evaluation sets"
FAILURES_SHOWN = 3  # rows that could not be read
MOST_SHOWN = 10  # evaluation rows that the summary of a set names


@dataclass(slots=True)
class EvaluationRow:
    """A row of an evaluation set."""

    set: int  # the place of its set among those named
    id: str
    words: int = 0  # of its texts that are long enough to be looked for
    training_rows: int = 0  # in which it was found
    share: float = 0.0  # of its words that one training row has; the largest


@dataclass(slots=True)
class EvaluationSet:
    """What was found of an evaluation set."""

    name: str
    rows: int = 0
    found: int = 0  # rows of which a passage is in a training row
    too_short: int = 0  # rows that could not be looked for, because no text of theirs has enough words
    failed: int = 0  # rows that could not be read
    failures: list[FailedRow] = field(default_factory=list)  # the first of these
    lacking: Counter[str] = field(default_factory=Counter)  # rows without a field that the caller named, by its name
    training_rows: int = 0  # that hold a passage of it
    most: list[EvaluationRow] = field(default_factory=list)  # found in the most training rows

    def as_document(self) -> dict[str, object]:
        """Return the set as JSON has it."""
        most = [{"id": row.id, "training_rows": row.training_rows, "share": round(row.share, 4)} for row in self.most]
        return {
            "name": self.name,
            "rows": self.rows,
            "found": self.found,
            "too_short": self.too_short,
            "failed": self.failed,
            "lacking": dict(self.lacking),
            "training_rows": self.training_rows,
            "most": most,
        }


class EvaluationSets:
    """The rows of evaluation sets and an index of their passages.

    `fields` hold the texts of a row: each is looked for on its own, and so is each text of a list. None stands for the
    usual names of a text.
    """

    def __init__(
        self,
        names: Sequence[str],
        fields: Sequence[str] = (),
        id_field: str | None = None,
        *,
        words: int,
        shortest: int,
        progress: Progress = no_progress,
    ) -> None:
        self.fields = list(fields) or [""]
        self.other_texts: list[str] = []  # files that were not read, beside files of rows
        self.sets: list[EvaluationSet] = []
        self.rows: dict[int, EvaluationRow] = {}  # by their number
        self._row_of = array("I")  # for each text the number of its row, and its field
        self._field_of = array("I")
        self._texts: list[str] = []
        self._failed: dict[int, FailedRow] = {}
        chosen = FieldNames(id=id_field, text=self.fields[0] or None)
        for place, name in enumerate(self.fields):
            with _naming_options(), RowFiles(names, chosen, name or None) as files:
                self.sets = self.sets or [EvaluationSet(each) for each in files.names]
                self._read(files.rows(), place, progress)
                self._check_field(name, files)
                self.other_texts = files.other_texts
        if not self._texts:
            reasons = sorted({row.reason for row in self._failed.values()})
            raise WinnowError(f"no text in the evaluation sets{': ' if reasons else ''}{', '.join(reasons)}")
        progress("indexing evaluation sets", 0, None)
        self.index = PassageIndex(self._texts, words, shortest)
        self._count()

    def _read(self, rows: Iterable[Row | FailedRow], place: int, progress: Progress) -> None:
        text_of = RowTexts()
        for row in rows:
            if row.number % 1000 == 0:
                progress(READING, row.number, None)
            if isinstance(row, FailedRow):
                self._failed[row.number] = row
                continue
            self.rows.setdefault(row.number, EvaluationRow(row.source, row.page.url))
            if self.fields[place] and row.value is None:
                self.sets[row.source].lacking[self.fields[place]] += 1
            for text in _strings(row.value) if row.value is not None else [text_of(row.page)] if place == 0 else []:
                if text is not None:
                    self._texts.append(text)
                    self._row_of.append(row.number)
                    self._field_of.append(place)

    def _check_field(self, name: str, files: RowFiles) -> None:
        """Refuse a field that no row of a set has: its name may be misspelt."""
        rows = Counter(row.set for row in self.rows.values())
        for place, each in enumerate(self.sets):
            if rows[place] and each.lacking[name] == rows[place]:
                seen = files.fields_seen()
                fields = f": the fields are {listed(seen)}" if seen else ""
                raise WinnowError(
                    f"{each.name} has no row with the field {name}, which --eval-field or eval_fields names{fields}"
                )
            each.lacking = +each.lacking

    def _count(self) -> None:
        for length, number in zip(self.index.lengths, self._row_of, strict=True):
            if length >= self.index.shortest:
                self.rows[number].words += length
        for failed in self._failed.values():
            self.sets[failed.source].rows += 1
            self.sets[failed.source].failed += 1
            if len(self.sets[failed.source].failures) < FAILURES_SHOWN:
                self.sets[failed.source].failures.append(failed)
        for row in self.rows.values():
            self.sets[row.set].rows += 1
            self.sets[row.set].too_short += not row.words

    def row_of(self, passage: IndexedPassage) -> EvaluationRow:
        return self.rows[self._row_of[passage.text]]

    def field_of(self, passage: IndexedPassage) -> str:
        return self.fields[self._field_of[passage.text]]

    def shares(self, passages: Iterable[IndexedPassage]) -> dict[int, float]:
        """Return how much of each evaluation row, by its number, these passages of one training row have."""
        spans: dict[int, list[tuple[int, int]]] = {}
        for each in passages:
            spans.setdefault(each.text, []).append((each.other_first_word, each.other_first_word + each.words))
        found: dict[int, int] = {}
        for text, parts in spans.items():
            number = self._row_of[text]
            found[number] = found.get(number, 0) + sum(end - start for start, end in merged_spans(parts))
        return {number: words / self.rows[number].words for number, words in found.items()}

    def number_of(self, passage: IndexedPassage) -> int:
        """Return the number of the evaluation row that a passage is from."""
        return self._row_of[passage.text]

    def add_found(self, shares: Mapping[int, float]) -> None:
        """Note that a training row has these shares of evaluation rows."""
        for number, share in shares.items():
            row = self.rows[number]
            row.training_rows += 1
            row.share = max(row.share, share)
        for place in {self.rows[number].set for number in shares}:
            self.sets[place].training_rows += 1

    def summary(self) -> list[EvaluationSet]:
        """Return what was found of each set so far."""
        found: list[list[EvaluationRow]] = [[] for _ in self.sets]
        for row in self.rows.values():
            if row.training_rows:
                found[row.set].append(row)
        for each, rows in zip(self.sets, found, strict=True):
            each.found = len(rows)
            each.most = sorted(rows, key=lambda row: (-row.training_rows, -row.share))[:MOST_SHOWN]
        return self.sets


@contextmanager
def _naming_options() -> Iterator[None]:
    """Name the options of evaluation sets in errors about their fields."""
    try:
        yield
    except SourceError as error:
        message = str(error)
        for field_name, option, parameter in (
            ("text", "--eval-field", "eval_fields"),
            ("id", "--eval-id-field", "eval_id"),
        ):
            message = message.replace(f"--{field_name}-field", option).replace(f"FieldNames({field_name}=…)", parameter)
        raise SourceError(message) from None


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
