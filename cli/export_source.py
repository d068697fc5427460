"""The records that winnow export reads: those of a store, or of record files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.written_scheme import WrittenScheme, other_scheme, written
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.stores.opening import files_of
from opensearch_winnow.stores.store import Store

if TYPE_CHECKING:  # Arrow takes half a second to import, which --help need not wait for.
    import pyarrow as pa


class StoredRecords:
    """The records of a store."""

    def __init__(self, store: Store, crawl: str | None, site: str | None) -> None:
        self._store = store
        self._where = Filters(crawl=crawl, site=site)

    @property
    def files(self) -> list[Path]:
        """The files of the store."""
        return files_of(self._store.name)

    @property
    def scheme(self) -> WrittenScheme:
        return written(self._store.scheme)

    def count(self) -> int:
        return self._store.count(self._where)

    def records(self) -> Iterator[Record]:
        return self._store.scan(Record, self._where)

    def write_parquet(self, target: Path) -> int:
        """Write the records to one record file and return how many: a store may be written meanwhile."""
        with extra("parquet"):
            from opensearch_winnow.stores.exported_records import export_records  # noqa: PLC0415

        return export_records(self._store, target, self._where)


class FiledRecords:
    """The records of record files, and of folders of them."""

    def __init__(self, names: Sequence[str], crawl: str | None, site: str | None) -> None:
        with extra("parquet"):
            from opensearch_winnow.record_files.reader import record_files, scheme_of  # noqa: PLC0415

        self._wanted = {"crawl": crawl, "site": site}
        self.scheme, *others = map(scheme_of, names)
        for name, other in zip(names[1:], others, strict=True):
            if other.id != self.scheme.id:
                raise other_scheme(name, other.id, self.scheme.id)
        self.files = [file for name in names for file in record_files(name)]

    @cached_property
    def _keep(self) -> list[pa.BooleanArray]:
        from opensearch_winnow.record_files.reader import latest_rows  # noqa: PLC0415

        return latest_rows(self.files, **self._wanted)

    def count(self) -> int:
        return sum(rows.true_count for rows in self._keep)

    def records(self) -> Iterator[Record]:
        from opensearch_winnow.record_files.reader import read_rows  # noqa: PLC0415

        return read_rows(self.files, self._keep)

    def write_parquet(self, target: Path) -> int:
        from opensearch_winnow.record_files.atomic_parquet import merge_files  # noqa: PLC0415

        return merge_files(self.files, self._keep, target, self.scheme)
