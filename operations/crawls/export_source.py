"""The records to export: of a store, or of record files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.mappings.capture_row import Row, entry_row, record_row
from opensearch_winnow.mappings.card import CaptureEntry
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.written_scheme import WrittenScheme, other_scheme, written
from opensearch_winnow.queries.filters import CaptureChoice, Filters
from opensearch_winnow.stores.archive_counts import left_out_of
from opensearch_winnow.stores.chosen_captures import chosen_captures
from opensearch_winnow.stores.opening import files_of
from opensearch_winnow.stores.store import Store

if TYPE_CHECKING:  # Arrow takes half a second to import, which --help need not wait for.
    import pyarrow as pa


class StoredRecords:
    """The records of a store that were chosen."""

    def __init__(self, store: Store, choice: CaptureChoice, *, representatives: bool = False) -> None:
        self._store, self._where, self._ids = store, choice.selection, choice.ids
        self._representatives = representatives

    @property
    def files(self) -> list[Path]:
        """The files of the store."""
        return files_of(self._store.name)

    @property
    def scheme(self) -> WrittenScheme:
        return written(self._store.scheme)

    def no_pages(self, archives: Collection[str]) -> Counter[str]:
        """Count, by reason, the records of these archives that are not pages."""
        return left_out_of(self._store, archives)

    def is_empty(self) -> bool:
        return next(self.rows(), None) is None

    def records(self) -> Iterator[Record]:
        found = chosen_captures(self._store, Record, self._where, self._ids)
        return (each for each in found if not self._representatives or each.id == each.cluster)

    def rows(self, *, text: bool = False) -> Iterator[Row]:
        """Return flat rows; without `text`, only metadata is read."""
        if text:
            return map(record_row, self.records())
        found = chosen_captures(self._store, CaptureEntry, self._where, self._ids)
        return (entry_row(each) for each in found if not self._representatives or each.card.id == each.card.cluster)

    def write_parquet(self, target: Path) -> int:
        """Write the records to one record file and return their number: a store may be written meanwhile."""
        with extra("parquet"):
            from opensearch_winnow.stores.exported_records import write_record_file  # noqa: PLC0415

        return write_record_file(self.records(), self._store.scheme, target)


class FiledRecords:
    """The records of record files, and of folders of them."""

    def __init__(self, names: Sequence[str], choice: CaptureChoice, *, representatives: bool = False) -> None:
        with extra("parquet"):
            from opensearch_winnow.record_files.reader import record_files, scheme_of  # noqa: PLC0415

        wanted = Filters(crawl=choice.where.crawl, site=choice.where.site)
        if choice.part(CaptureChoice) != CaptureChoice(where=wanted):
            raise QuestionError("record files can be filtered by crawl and site; the other options need a store")
        self._wanted = {"crawl": wanted.crawl, "site": wanted.site}
        self._representatives = representatives
        self.scheme, *others = map(scheme_of, names)
        for name, other in zip(names[1:], others, strict=True):
            if other.id != self.scheme.id:
                raise other_scheme(name, other, self.scheme)
        self.files = [file for name in names for file in record_files(name)]

    def no_pages(self, archives: Collection[str]) -> Counter[str]:  # noqa: ARG002 (record files do not count them)
        return Counter()

    @cached_property
    def _keep(self) -> list[pa.BooleanArray]:
        import pyarrow.compute as pc  # noqa: PLC0415

        from opensearch_winnow.record_files.reader import latest_rows, read_columns  # noqa: PLC0415

        keep = latest_rows(self.files, **self._wanted)
        if not self._representatives:
            return keep
        own = ([id_ == cluster for id_, cluster in read_columns(file, "id", "cluster")] for file in self.files)
        return [pc.and_(rows, chosen) for rows, chosen in zip(keep, own, strict=True)]

    def is_empty(self) -> bool:
        return not any(rows.true_count for rows in self._keep)

    def records(self) -> Iterator[Record]:
        from opensearch_winnow.record_files.records import read_rows  # noqa: PLC0415

        return read_rows(self.files, self._keep)

    def rows(self, *, text: bool = False) -> Iterator[Row]:  # noqa: ARG002 (it is read in any case)
        return map(record_row, self.records())

    def write_parquet(self, target: Path) -> int:
        from opensearch_winnow.record_files.atomic_parquet import merge_files  # noqa: PLC0415

        return merge_files(self.files, self._keep, target, self.scheme)
