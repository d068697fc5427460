"""The embedded store: one SQLite file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Self

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.stored_fields import packed_digest
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded.candidates import count_pages, find_candidates
from opensearch_winnow.stores.embedded.file import StoreFile, check_file, create_file
from opensearch_winnow.stores.embedded.reading import by_id, read_pages, scan_pages
from opensearch_winnow.stores.embedded.rows import conditions, keys
from opensearch_winnow.stores.embedded.settings import EmbeddedSettings, write_settings
from opensearch_winnow.stores.embedded.statistics import cluster_sizes, crawls, file_statistics
from opensearch_winnow.stores.embedded.verification import verify
from opensearch_winnow.stores.embedded.views import EmbeddedView
from opensearch_winnow.stores.embedded.writes import (
    drop_gone_pages,
    remove_pages,
    set_fingerprints,
    set_texts,
    write_pages,
)
from opensearch_winnow.stores.last_deletion import new_mark
from opensearch_winnow.stores.opened_scheme import opened_scheme
from opensearch_winnow.stores.store import (
    CandidatesOfLookup,
    ClusterSize,
    Crawl,
    Fields,
    LookupsOfQuestion,
    Order,
    Statistics,
    WriteOutcome,
)
from opensearch_winnow.stores.view_cache import ViewCache


class EmbeddedStore(Closing):
    """A store in one SQLite file. Threads may share it, and take turns.

    Threads and processes that open the file themselves read while another writes; a second writer waits for its turn.
    """

    def __init__(self, file: StoreFile, scheme: Scheme) -> None:
        self._file = file
        self._scheme = scheme
        self._settings = EmbeddedSettings(file)
        self._views: ViewCache[EmbeddedView] = ViewCache()

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        scheme: Scheme | None = None,
        *,
        create: bool = False,
        key: str | None = None,
        shown_name: str | None = None,
    ) -> Self:
        """Open a file; with `create`, create it if it does not exist.

        The file contains its scheme, except for a secret `key`. A file without permission to write can be read.
        `shown_name` is its name in messages, by default `name`.
        """
        name, real_path = shown_name or os.fspath(path), Path(os.path.realpath(path))
        if create and not os.path.exists(real_path):  # noqa: PTH110 (Path.exists raises without permission to look)
            create_file(real_path, name, with_key(scheme or Scheme(), key))
        check_file(real_path, name)
        file = StoreFile(real_path, name)
        try:
            with file.reading():
                found = file.scheme()
            return cls(file, opened_scheme(name, found, scheme, key))
        except BaseException:
            file.close()
            raise

    @property
    def name(self) -> str:
        return self._file.name

    @property
    def path(self) -> Path:
        """The path of the file, whose tables other readers may query."""
        return self._file.path

    @property
    def scheme(self) -> Scheme:
        return self._scheme

    @property
    def settings(self) -> EmbeddedSettings:
        return self._settings

    def write(self, records: Sequence[Record]) -> list[WriteOutcome]:
        """Write all records, or none and raise a StoreError. Thousands cost little more than one."""
        return write_pages(self._file, records, self._scheme)

    def set_fingerprints(self, records: Sequence[Record]) -> int:
        return set_fingerprints(self._file, records, self._scheme)

    def set_texts(self, records: Sequence[Record]) -> int:
        return set_texts(self._file, records, self._scheme)

    def delete(self, ids: Iterable[str]) -> int:
        wanted = list(ids)
        if not wanted:
            return 0
        with self._file.writing() as db:
            numbers = [number for (number,) in by_id(db, "number", "page", wanted)]
            remove_pages(db, numbers)
            if numbers:
                write_settings(db, new_mark())
        return len(numbers)

    def erase(self) -> None:
        """Write the file anew. This takes up to twice its size on disk, half of it in the temporary folder.

        Views that are kept open are closed, because they still have deleted pages.
        """
        self._views.close()
        with self._file.writing() as db:
            drop_gone_pages(db)
        self._file.rewrite()

    def read(self, ids: Iterable[str], fields: type[Fields]) -> dict[str, Fields]:
        with self._file.reading() as db:
            return read_pages(db, ids, fields, self._scheme)

    def scan(
        self,
        fields: type[Fields],
        where: Filters = Filters(),
        *,
        order: Order = "written",
        limit: int | None = None,
        offset: int = 0,
    ) -> Iterator[Fields]:
        return scan_pages(self._file, fields, where, scheme=self._scheme, order=order, limit=limit, offset=offset)

    def count(self, where: Filters = Filters()) -> int:
        condition, parameters = conditions(where)
        with self._file.reading() as db:
            count: int = db.execute(f"SELECT count(*) FROM page WHERE {condition}", parameters).fetchone()[0]
        return count

    def candidates(
        self, questions: Sequence[LookupsOfQuestion], where: Filters = Filters(), check: FrequencyCheck | None = None
    ) -> list[list[CandidatesOfLookup]]:
        with self._file.reading() as db:
            return find_candidates(db, questions, where, check)

    def frequencies(self, lookups: Sequence[Lookup], *, over: int) -> list[dict[int, int]]:
        with self._file.reading() as db:
            return count_pages(db, lookups, over=over)

    def view(
        self, words: Words, where: Filters = Filters(latest=True), *, keep_open: bool = False, key: str = ""
    ) -> EmbeddedView:
        """Open a view. With `keep_open`, it has a connection of its own, and only this store object knows its key."""
        if key:
            return self._views.get(key, self.name)
        view = EmbeddedView(self._file, words, where, keep_open=keep_open)
        if keep_open:
            view.key = self._views.keep(view)
        return view

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        ids = {key.hex(): key for key in keys(clusters)}
        values = [(None if clusters[id_] == id_ else packed_digest(clusters[id_]), key) for id_, key in ids.items()]
        with self._file.writing() as db:
            return max(db.executemany("UPDATE page SET cluster = ? WHERE id = ?", values).rowcount, 0)

    def clusters(
        self, *, min_pages: int = 2, site: str | None = None, limit: int, offset: int = 0
    ) -> list[ClusterSize]:
        with self._file.reading() as db:
            return cluster_sizes(db, min_pages=min_pages, site=site, limit=limit, offset=offset)

    def crawls(self) -> list[Crawl]:
        with self._file.reading() as db:
            return crawls(db)

    def statistics(self) -> Statistics:
        with self._file.reading() as db:
            return file_statistics(db, self.path)

    def verify(self) -> None:
        """Read the whole file, and raise a StoreError if a part of it is damaged."""
        with self._file.reading() as db:
            verify(db)

    def close(self) -> None:
        self._views.close()
        self._file.close()
