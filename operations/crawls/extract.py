"""Writes chosen captures of a store to a WARC or WACZ file, from the archives that they were indexed from."""

from __future__ import annotations

import csv
import io
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.foundation.answers import Answer, answer, derived, key
from opensearch_winnow.foundation.atomic_file import AtomicFile, check_output, reporting_os_errors
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.csv_cells import escape_formula
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.option_kinds import FLAG, path, repeated
from opensearch_winnow.foundation.options import option, option_of
from opensearch_winnow.foundation.path_names import PathName
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.ingest.sources.archived_record import ArchivedRecords, ArchiveError
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.cdxj import cdxj_line
from opensearch_winnow.operations.clusters.left_clusters import CLUSTERING
from opensearch_winnow.operations.crawls.wacz_file import ARCHIVE, write_wacz
from opensearch_winnow.operations.crawls.warc_file import WarcFile, Written, payload_digest
from opensearch_winnow.queries.filters import CaptureChoice, Filters
from opensearch_winnow.stores.archive_counts import left_out_of
from opensearch_winnow.stores.chosen_captures import chosen_captures
from opensearch_winnow.stores.revisits import is_revisit, original_of
from opensearch_winnow.stores.store import Store

ENDINGS = (".warc.gz", ".warc", ".wacz")
NEAR, NO_SOURCE = "near-duplicate of a representative", "not indexed from a web archive"
# A WARC file with such a record is refused as a whole by other programs.
NO_DATE = "has no valid date; index its archive with --date into a new store to give it one"
COPYING = "copying records"  # the phase in reports of progress
NOT_STORED = "not in the store"
NO_ORIGINAL = "a revisit, and the record that it repeats is in none of the archives"


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractOptions(CaptureChoice):
    """The captures that are extracted, and how."""

    representatives: bool = option(
        False,
        FLAG,
        "Only one capture of each cluster, as the last run of winnow cluster made them. Others become revisit records"
        " if their payloads are equal; if not, they are left out and listed.",
    )
    revisits: bool = option(False, FLAG, "Write a capture with the payload of another one as a revisit record.")
    archives: Sequence[PathName] = option(
        (),
        repeated(path("DIR", "folder")),
        "A folder to look in, with its subfolders, for archives that are no longer where they were indexed. Can be"
        " given several times.",
    )
    overwrite: bool = option_of(RunSettings, "overwrite")
    progress: Progress | None = None

    def __post_init__(self) -> None:
        super(ExtractOptions, self).__post_init__()
        if self.representatives and self.ids is not None:
            raise QuestionError("ids name the captures: representatives cannot choose among them")
        for each in self.archives:
            if not Path(each).is_dir():
                raise QuestionError(f"there is no folder {each} with archives")


@answer(frozen=False)
class ExtractReport(Answer):
    """The outcomes of the captures that were chosen."""

    records: int = key("The number of records that were copied, byte by byte.", default=0)
    revisits: int = key(
        "The number of captures that were written as revisits: their payloads equal that of a record in the file.",
        default=0,
    )
    originals: int = key("The number of records that were not chosen, but that a chosen revisit repeats.", default=0)
    unresolved: int = key("The number of revisits that were written without the record they repeat.", default=0)
    left_out: Counter[str] = key("The captures that were left out, by reason.", default_factory=Counter)
    failed: Counter[str] = key("The captures whose records could not be read, by reason.", default_factory=Counter)
    no_pages: Counter[str] = key("The records of the archives that are not pages, by reason.", default_factory=Counter)
    bytes: int = key("The size of the file; 0 if nothing was written.", default=0)
    to: str | None = key("The file that was written; null if nothing was.", default=None)
    listed: Path | None = None  # the file that lists the captures left out or failed; None if there are none

    @property
    @derived(name="list")
    def list_name(self) -> str | None:
        """The name of the file that lists the captures left out or failed; null if there are none."""
        return None if self.listed is None else str(self.listed)


def extract(store: Store, to: PathName, options: ExtractOptions) -> ExtractReport:
    """Write the chosen captures to the file `to`, and report their outcomes.

    With `revisits`, a capture whose payload is in the file already becomes a revisit. With `representatives`, only the
    representatives of clusters are written as records; other captures become revisits if their payloads are equal to
    one of those, and are left out, and listed, if not. `archives` are folders to look in for archives that have moved.

    A revisit brings the record that it repeats. If that is in no archive, the revisit is written and listed.
    """
    target, where, ids = Path(to), options.selection, options.ids
    if not target.name.endswith(ENDINGS):
        raise QuestionError(f"{target.name} does not end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
    check_output(target, overwrite=options.overwrite)
    if options.representatives and store.settings.get(CLUSTERING) is None:
        raise QuestionError(f"{store.name} has no clusters yet: run winnow cluster first")
    total = store.count(where) if ids is None else len(ids)
    progress = options.progress or no_progress
    with reporting_os_errors(target), ExitStack() as stack:
        out = AtomicFile(target)
        stack.callback(out.discard)
        wacz = target.name.endswith(".wacz")
        warc_path = out.path.with_name(f"{out.path.name}.warc.gz") if wacz else out.path
        if wacz:
            stack.callback(warc_path.unlink, missing_ok=True)
        listed = stack.enter_context(_LeftOut(target))
        with warc_path.open("wb") as file, ArchivedRecords(list(map(Path, options.archives))) as records:
            warc = WarcFile(file, compressed=not target.name.endswith(".warc"))
            run = _Extraction(store, warc, records, listed, revisits=options.revisits or options.representatives)
            done = 0
            for done, entry in enumerate(_chosen(store, where, ids, representatives=options.representatives), 1):
                run.add(entry, only_if_equal=options.representatives and entry.card.id != entry.card.cluster)
                progress(COPYING, min(done, total), total)
            if ids is not None and done < len(ids):
                run.report.failed[NOT_STORED] += len(ids) - done
        if wacz:
            with out.path.open("wb") as file:
                write_wacz(file, warc_path, sorted(run.index), run.pages)
        run.report.originals = len(run.originals)
        run.report.no_pages = left_out_of(store, run.archives)
        if run.report.records:
            run.report.bytes, run.report.to = out.path.stat().st_size, os.fspath(to)
            out.commit()
        run.report.listed = listed.commit()
    return run.report


def _chosen(
    store: Store, where: Filters, ids: Sequence[str] | None, *, representatives: bool
) -> Iterator[CaptureEntry]:
    """Yield the chosen captures in the order in which they were indexed; representatives come first."""
    for first in (True, False) if representatives else (None,):
        for entry in chosen_captures(store, CaptureEntry, where, ids):
            if first is None or (entry.card.id == entry.card.cluster) is first:
                yield entry


class _Extraction:
    def __init__(
        self, store: Store, warc: WarcFile, records: ArchivedRecords, listed: _LeftOut, *, revisits: bool
    ) -> None:
        self.report = ExtractReport()
        self.index: list[str] = []  # lines of CDXJ
        self.pages: list[Card] = []
        self.originals: set[str] = set()  # ids of captures that were not chosen
        self.archives: set[str] = set()  # the archives that the captures are in
        self._store, self._warc, self._records, self._listed = store, warc, records, listed
        self._revisits = revisits
        self._payloads: dict[str, Written] = {}  # by digest, as computed
        self._stated: set[str] = set()  # the digests that the archives give
        self._contents: set[str] = set()  # the content digests of written records
        self._written: set[str] = set()  # ids

    def add(self, entry: CaptureEntry, *, only_if_equal: bool) -> None:
        check_cancelled()
        if entry.source is not None:
            self.archives.add(entry.source.file)
        if entry.card.id in self._written:
            self.originals.discard(entry.card.id)  # it was chosen, too
        elif entry.source is None:
            self._leave_out(entry, NO_SOURCE)
        elif only_if_equal and not self._may_be_equal(entry):
            self._leave_out(entry, NEAR)
        else:
            try:
                self._write(entry, only_if_equal=only_if_equal)
            except ArchiveError as error:
                self.report.failed[str(error)] += 1
                self._listed.add(entry.card, "failed", str(error))

    def _may_be_equal(self, entry: CaptureEntry) -> bool:
        """Return whether a capture may have the payload of a record that was written; most need not be read."""
        if is_revisit(entry):
            original = None if entry.payload_digest in self._stated else original_of(self._store, entry)
            return entry.payload_digest in self._stated or (original is not None and original.card.id in self._written)
        return entry.content_digest in self._contents

    def _write(self, entry: CaptureEntry, *, only_if_equal: bool = False) -> None:
        card, source = entry.card, entry.source
        assert source is not None
        record = self._records.read(entry)
        if card.fetched_at is None and record.date is None:
            self._leave_out(entry, NO_DATE)
            return
        if is_revisit(entry) and entry.payload_digest not in self._stated and not self._write_original(entry):
            self.report.unresolved += 1
            self._listed.add(card, "written", NO_ORIGINAL)
        digest = payload_digest(record)
        known = self._payloads.get(digest)
        if known and self._revisits and not is_revisit(entry):
            written = self._warc.revisit(card, record, known)
            source = source._replace(record_type="revisit")
            self.report.revisits += 1
        elif only_if_equal and not is_revisit(entry):
            self._leave_out(entry, NEAR)
            return
        else:
            written = self._warc.copy(card, record)
            self.report.records += 1
            if not is_revisit(entry):
                self._payloads.setdefault(digest, written)
                self._contents.add(entry.content_digest)
        if entry.payload_digest and not is_revisit(entry):
            self._stated.add(entry.payload_digest)
        self._written.add(card.id)
        self.pages.append(card)
        written_source = source._replace(file=ARCHIVE, offset=written.offset, length=written.length)
        if card.fetched_at is not None:
            self.index.append(cdxj_line(card.url, card.fetched_at, written.payload_digest, written_source))

    def _write_original(self, revisit: CaptureEntry) -> bool:
        """Copy the record that a revisit repeats, and return whether it is in the file."""
        found = original_of(self._store, revisit)
        if found is not None and found.card.id not in self._written:
            try:
                self._write(found)
            except ArchiveError:
                return False
            self.originals.add(found.card.id)
        return found is not None and found.card.id in self._written

    def _leave_out(self, entry: CaptureEntry, reason: str) -> None:
        self.report.left_out[reason] += 1
        self._listed.add(entry.card, "left out", reason)


class _LeftOut:
    """The list of captures that were left out or failed, a CSV file beside the target. Use it as a context manager."""

    def __init__(self, target: Path) -> None:
        self._file = AtomicFile(target.with_name(f"{target.name}.left-out.csv"))
        self._rows: io.TextIOWrapper | None = None

    def add(self, card: Card, outcome: str, reason: str) -> None:
        if self._rows is None:
            self._rows = self._file.path.open("w", encoding="utf-8", newline="")
            csv.writer(self._rows).writerow(["url", "fetched_at", "id", "cluster", "outcome", "reason"])
        time = "" if card.fetched_at is None else written_time(card.fetched_at)
        csv.writer(self._rows).writerow([escape_formula(card.url), time, card.id, card.cluster, outcome, reason])

    def commit(self) -> Path | None:
        """Make the list appear; if it is empty, remove an older one."""
        if self._rows is None:
            self._file.target.unlink(missing_ok=True)
            return None
        self._rows.close()
        self._file.commit()
        return self._file.target

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._rows is not None:
            self._rows.close()
        self._file.discard()
