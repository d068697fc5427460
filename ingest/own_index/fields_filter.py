"""Adds winnow's fields to a stream of documents: JSON lines, or the body of a `_bulk` request."""

from __future__ import annotations

import io
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import IO, NamedTuple

from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.document_paths import value_at
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.bulk_action import WITH_SOURCE, MalformedBulkError, bulk_action, option_text
from opensearch_winnow.ingest.own_index.document_update import DocumentUpdate
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.ingest.own_index.json_document import BLANK, DocumentError, JsonDocument
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked_stream

PIECE = 1 << 18  # bytes to read at a time
MAX_LINE_BYTES = 100_000_000  # the most that engines take in one request, by default
COUNTED = ("documents", "done", "no_text", "unaffected", "partial", "failed")
# Units without a document: a blank line, and a further part of a line that is too long.
BLANK_LINE, REST = "blank", "rest"


class Unit(NamedTuple):
    """A document as it was read: its line, and in a `_bulk` body the line with its action before it."""

    number: int  # of its first line, from 1
    lines: list[bytes]
    operation: str = ""  # of the action; empty for JSON lines
    id: str = ""  # of the action, if it has one
    failure: str = ""  # why it gets no fields


class Failure(NamedTuple):
    """A document that got no fields because it cannot be read."""

    number: int  # of its line
    reason: str  # empty: `lines` continue the failure before
    lines: bytes


class Piece(NamedTuple):
    """Documents with their fields, and the counts of their outcomes."""

    output: bytes
    counts: Counter[str]  # of documents: all, done, no_text, and of updates: partial, unaffected
    failures: list[Failure]


@answer
class FieldsReport(Answer):
    """The outcomes of documents that were to get fields."""

    scheme: str = key("The id of the scheme of all hashes.")
    documents: int = key("The number of documents.")
    done: int = key("The number of documents that got the fields of a text.")
    no_text: int = key("The number of documents that got the fields of an empty text.")
    unaffected: int = key("The number of updates that change no text.")
    partial: int = key("The number of updates that have only some of the text fields, and got no fields.")
    failed: int = key("The number of documents that cannot be read.")
    times_unread: int = key("The number of documents with a time that cannot be read, or cannot be right.")


@dataclass(slots=True)
class FieldsFilter:
    """Filters streams. Usage: `for piece in FieldsFilter(maker).pieces(stream): out.write(piece.output)`.

    Each document is yielded before more input is waited for, so that it works with `tail -f`.
    """

    maker: FieldsMaker
    bulk: bool = False
    id_field: str = ""
    keep_failed: bool = True  # in the output, as they are
    max_line: int = MAX_LINE_BYTES
    times_unread: int = 0  # in documents that have one

    def pieces(self, stream: io.BufferedReader) -> Iterator[Piece]:
        """Yield the content of `stream` with fields, in its order."""
        yield from map(self.piece, _units(_lines(stream, self.max_line), bulk=self.bulk))

    def write(
        self,
        files: Iterable[tuple[str, AbstractContextManager[io.BufferedReader]]],
        out: IO[bytes],
        failed: IO[bytes] | None = None,
        *,
        at_once: bool = False,
        tell: Callable[[str, Failure], None],
        progress: Progress = no_progress,
    ) -> FieldsReport:
        """Write the documents of files, perhaps compressed, to `out`, and unreadable ones to `failed`.

        Each file comes with its name. `tell` is called with that name and each failure. If `at_once`, every piece is
        flushed.
        """
        counts: Counter[str] = Counter()
        ends_line = True
        for name, opening in files:
            for piece in self._unpacked_pieces(name, opening):
                if piece.output and not ends_line:
                    out.write(b"\n")
                out.write(piece.output)
                if at_once:
                    out.flush()
                # Between two files; within one, only the last line may have no line break.
                ends_line = not piece.output or piece.output.endswith(b"\n")
                counts += piece.counts
                for each in piece.failures:
                    if each.reason:
                        counts["failed"] += 1
                        tell(name, each)
                    if failed is not None:
                        failed.write(each.lines)
                        if not each.lines.endswith(b"\n") and each.reason:
                            failed.write(b"\n")
                progress("adding fields", counts["documents"], None)
        counted = {name: counts[name] for name in COUNTED}
        return FieldsReport(scheme=self.maker.scheme.id, **counted, times_unread=self.times_unread)

    def _unpacked_pieces(self, name: str, opening: AbstractContextManager[io.BufferedReader]) -> Iterator[Piece]:
        with opening as file:
            try:
                yield from self.pieces(unpacked_stream(file))
            except DamagedError as error:
                raise FileError(f"{name} cannot be read to its end: {error}") from None

    def piece(self, units: Iterable[Unit]) -> Piece:
        """Add the fields of some documents."""
        counts: Counter[str] = Counter()
        output: list[bytes] = []
        failures: list[Failure] = []
        for unit in units:
            if unit.operation == REST and not self.keep_failed:
                failures.append(Failure(unit.number, "", b"".join(unit.lines)))
                continue
            try:
                if unit.failure:
                    raise DocumentError(unit.failure)
                output += self._with_fields(unit, counts)
            except (DocumentError, ExtractError) as error:
                counts["documents"] += 1
                failures.append(Failure(unit.number + len(unit.lines) - 1, str(error), b"".join(unit.lines)))
                if self.keep_failed:
                    output += unit.lines
        return Piece(b"".join(output), counts, failures)

    def _with_fields(self, unit: Unit, counts: Counter[str]) -> list[bytes]:
        if unit.operation in ("delete", BLANK_LINE, REST):
            return unit.lines
        *action, line = unit.lines
        changed, outcome = self._updated(line, unit.id) if unit.operation == "update" else self.added(line, unit.id)
        counts["documents"] += 1
        counts[outcome] += 1
        return [*action, changed]

    def added(self, line: bytes, id_: str = "") -> tuple[bytes, str]:
        """Return a document with winnow's fields, and the outcome. Raises DocumentError, or ExtractError about HTML."""
        document = JsonDocument(line)
        outcome = self._fill(document, id_, self.id_field)
        return document.content(), outcome

    def _updated(self, line: bytes, id_: str) -> tuple[bytes, str]:
        """Return the body of an update with fields in `doc` and `upsert`, and the outcome.

        A `doc` that has only some of the text fields gets none: the stored text of the others is not known here.
        """
        update, paths = DocumentUpdate(line), self.maker.fields.text
        outcome, touched = "unaffected", update.touched(paths)
        if touched and update.doc is not None:
            outcome = self._fill(update.doc, id_) if len(touched) == len(paths) else "partial"
        if update.upsert is not None:
            outcome = self._fill(update.upsert, id_)
        return update.content(), outcome

    def _fill(self, document: JsonDocument, id_: str, id_field: str = "") -> str:
        """Add winnow's fields to a document, and return the outcome. Only the values that are needed are decoded."""
        fields = self.maker.fields
        source = document.at([*self.maker.paths, id_field])
        if id_field and isinstance(value := source.get(id_field), str | int):
            id_ = str(value)
        made = self.maker.stamped(AttachedDocument(id_, source))
        if made.get("fetched_us", 0) is None and value_at(source, fields.time or "") is not None:
            self.times_unread += 1
        members = fields.members(made)
        members[fields.below] = {name: value for name, value in members[fields.below].items() if value is not None}
        document.remove(fields.below)
        document.add(members)
        return "done" if made["text_digest"] else "no_text"


def _lines(stream: io.BufferedReader, max_line: int) -> Iterator[list[tuple[bytes, bool]]]:
    """Yield the lines of each piece that was read, each with True if it is whole.

    A line that is too long is yielded in parts, none of which counts as whole.
    """
    parts: deque[bytes] = deque()
    size, too_long = 0, False
    while piece := stream.read1(PIECE):
        lines = []
        *whole, rest = piece.split(b"\n")
        for line in whole:
            parts.append(line + b"\n")
            whole_line = b"".join(parts)
            lines.append((whole_line, not too_long and len(whole_line) <= max_line))
            parts.clear()
            size, too_long = 0, False
        if rest:
            parts.append(rest)
            size += len(rest)
        if too_long or size > max_line:
            lines.append((b"".join(parts), False))
            parts.clear()
            size, too_long = 0, True
        if lines:
            yield lines
    if parts:
        yield [(b"".join(parts), True)]


def _units(batches: Iterator[list[tuple[bytes, bool]]], *, bulk: bool) -> Iterator[list[Unit]]:
    """Yield the documents of each batch of lines. An action waits for its source, which may be in the next batch."""
    number, action = 0, None
    continues = False  # a line that is too long
    for batch in batches:
        units: list[Unit] = []
        for line, is_whole in batch:
            if continues:
                units.append(Unit(number, [line], REST))
                continues = not line.endswith(b"\n")
                continue
            number += 1
            if action is not None:
                unit = action._replace(lines=[*action.lines, line])
                action = None
            elif not line.strip(BLANK):
                unit = Unit(number, [line], BLANK_LINE)
            elif bulk and is_whole:
                unit = _action(number, line)
            else:
                unit = Unit(number, [line])
            if not is_whole:
                unit = unit._replace(failure=f"a line of more than {MAX_LINE_BYTES / 1e6:g} MB")
                continues = not line.endswith(b"\n")
            if unit.operation in WITH_SOURCE and len(unit.lines) == 1:
                action = unit
            else:
                units.append(unit)
        if units:
            yield units
    if action is not None:
        yield [action._replace(failure="an action without its document")]


def _action(number: int, line: bytes) -> Unit:
    """Return an action of a `_bulk` body."""
    try:
        operation, options = bulk_action(line)
    except MalformedBulkError as error:
        return Unit(number, [line], failure=str(error))
    return Unit(number, [line], operation, option_text(options, "_id") or "")
