"""The embedded store: one SQLite file."""

from __future__ import annotations

import json
import os
import sqlite3
from array import array
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record, microseconds, storable
from opensearch_winnow.mappings.sqlite_schema import packed
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.lookups import Field, Lookup
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded.clusters import cluster_sizes, members
from opensearch_winnow.stores.embedded.file import StoreFile, check_file, create_file
from opensearch_winnow.stores.embedded.file_sizes import sizes
from opensearch_winnow.stores.embedded.postings import Postings
from opensearch_winnow.stores.embedded.ranking import Ranking
from opensearch_winnow.stores.embedded.rows import (
    CARD,
    RECORD,
    WHOLE_PAGE,
    Row,
    card_of,
    conditions,
    hashes_of,
    keys,
    record_of,
    required_row,
    text_of,
    value_of,
)
from opensearch_winnow.stores.embedded.views import EmbeddedView
from opensearch_winnow.stores.embedded.writes import FIELDS, gone_pages, remove_pages, write_pages
from opensearch_winnow.stores.opened_scheme import opened_scheme
from opensearch_winnow.stores.snippet import hit_of
from opensearch_winnow.stores.store import Candidate, ClusterSize, Hits, Statistics, Written
from opensearch_winnow.stores.view_cache import ViewCache

AT_ONCE = 100  # records in memory while all are read
ALL = -1  # rows, as SQLite's LIMIT says it
PARAMETERS = 500  # of a statement; SQLite may be built to take 999

Made = TypeVar("Made")


class EmbeddedStore:
    """A store that one thread uses at a time; others, and other processes, open the same file again.

    Any number of them read while one writes; who wants to write too waits for its turn.
    """

    def __init__(self, file: StoreFile, scheme: Scheme) -> None:
        self._file = file
        self._scheme = scheme
        self._views: ViewCache[EmbeddedView] = ViewCache()

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], scheme: Scheme | None = None, *, create: bool = False, key: str | None = None
    ) -> Self:
        """Open a file; with `create`, make it if it is not there.

        It says which scheme it has, but for the key, if there is one. A file that cannot be written can be read.
        """
        name, place = os.fspath(path), Path(os.path.realpath(path))
        if scheme is not None and key is not None:
            scheme = replace(scheme, key=key)
        if create and not os.path.exists(place):  # noqa: PTH110 (the other asks for the right to look)
            create_file(place, name, scheme or Scheme(key=key))
        check_file(place, name)
        file = StoreFile(place, name)
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
        """Of the file; whoever only reads may look into its tables."""
        return self._file.path

    @property
    def scheme(self) -> Scheme:
        return self._scheme

    def write(self, records: Sequence[Record]) -> list[Written]:
        """All of them, or none and a StoreError. It costs little more for thousands than for one."""
        return write_pages(self._file, records)

    def get(self, ids: Iterable[str]) -> dict[str, Record]:
        with self._file.reading() as rows:
            found = [record_of(row) for row in _by_id(rows, RECORD, WHOLE_PAGE, keys(ids))]
        return {record.id: record for record in found}

    def captures(self, url: str, *, limit: int | None = None) -> list[Card]:
        with self._file.reading() as rows:
            # NULL is the smallest of all.
            found = rows.execute(
                f"SELECT {CARD} FROM page WHERE url = ? ORDER BY fetched_at DESC LIMIT ?",
                (storable(url), ALL if limit is None else limit),
            )
            return [card_of(row) for row in found]

    def with_payload(self, digest: str) -> str | None:
        with self._file.reading() as rows:
            # A page that was read has a digest of its text, even where texts are not kept. A revisit has none.
            row = rows.execute(
                "SELECT id FROM page WHERE payload_digest = ? AND text_digest != x'' ORDER BY place LIMIT 1",
                (storable(digest),),
            ).fetchone()
            return row and str(row[0].hex())

    def capture(self, url: str, until: datetime | None = None) -> Record | None:
        condition, parameters = ("", []) if until is None else (" AND fetched_at <= ?", [microseconds(until)])
        with self._file.reading() as rows:
            row = rows.execute(
                f"SELECT {RECORD} FROM {WHOLE_PAGE} WHERE url = ?{condition} ORDER BY fetched_at DESC LIMIT 1",
                (storable(url), *parameters),
            ).fetchone()
            return row and record_of(row)

    def overlaps(self, lookups: Sequence[Lookup], where: Filters = Filters()) -> list[list[Candidate]]:
        condition, parameters = conditions(where)
        found = []
        with self._file.reading() as rows:
            for field, tokens, minimum in lookups:
                shared: Counter[int] = Counter()
                for _, pages in Postings(rows, field).pages(tokens):
                    shared.update(pages)
                numbers = [number for number, count in shared.items() if count >= minimum]
                # Pages that are gone have postings, but no row.
                there = rows.execute(
                    f"SELECT number, {CARD} FROM json_each(?) AS wanted JOIN page ON number = wanted.value"
                    f" WHERE {condition}",
                    (json.dumps(numbers), *parameters),
                )
                candidates = [Candidate(card_of(row), shared[number]) for number, *row in there]
                found.append(sorted(candidates, key=lambda each: (-each.shared, each.card.id)))
        return found

    def rare_overlaps(
        self, lookups: Sequence[Lookup], where: Filters = Filters(), *, over: int, checked: Collection[Field]
    ) -> list[list[Candidate]] | None:
        """Never: each is quick by itself."""

    def frequent(self, lookups: Sequence[Lookup], *, over: int) -> list[dict[int, int]]:
        found = []
        with self._file.reading() as rows:
            dropped = set(gone_pages(rows))
            for field, tokens, _ in lookups:
                counts: Counter[int] = Counter()
                for token, pages in Postings(rows, field).pages(tokens):
                    counts[token] += sum(page not in dropped for page in pages) if dropped else len(pages)
                found.append({token: count for token, count in counts.items() if count > over})
        return found

    def minhashes(self, ids: Sequence[str]) -> list[bytes]:
        return self._column(bytes, "minhash", "page_hashes", ids)

    def sketches(self, ids: Sequence[str]) -> list[array[int]]:
        return self._column(hashes_of, "sketch", "page_hashes", ids)

    def texts(self, ids: Sequence[str]) -> list[str]:
        return self._column(text_of, "text", "page_text", ids)

    def search(self, words: Words, where: Filters = Filters(latest=True), *, limit: int = 10, offset: int = 0) -> Hits:
        start = max(offset, 0)
        with self._file.reading() as rows:
            ranking = Ranking(rows, words, where)
            hits = []
            for number, score in ranking.first(start + max(limit, 0))[start:]:
                row = required_row(
                    rows.execute(
                        f"SELECT text, {CARD} FROM page JOIN page_text USING (number) WHERE number = ?", (number,)
                    )
                )
                hits.append(hit_of(card_of(row[1:]), score, text_of(row[0]), words))
        return Hits(ranking.total, hits)

    def view(
        self, words: Words, where: Filters = Filters(latest=True), *, kept: bool = False, key: str = ""
    ) -> EmbeddedView:
        """One that is kept has a connection of its own, and its key is known to this store alone."""
        if key:
            return self._views.get(key, self.name)
        view = EmbeddedView(self._file, words, where, kept=kept)
        if kept:
            view.key = self._views.keep(view)
        return view

    def scan(self, where: Filters = Filters()) -> Iterator[Record]:
        return self._all(record_of, RECORD, WHOLE_PAGE, where)

    def cards(self, where: Filters = Filters()) -> Iterator[Card]:
        return self._all(card_of, CARD, "page", where)

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        ids = {key.hex(): key for key in keys(clusters)}
        values = [(None if clusters[id_] == id_ else packed(clusters[id_]), key) for id_, key in ids.items()]
        with self._file.writing() as rows:
            return max(rows.executemany("UPDATE page SET cluster = ? WHERE id = ?", values).rowcount, 0)

    def clusters(self, *, least: int = 2, limit: int, offset: int = 0) -> list[ClusterSize]:
        with self._file.reading() as rows:
            return cluster_sizes(rows, least=least, limit=limit, offset=offset)

    def cluster_members(self, cluster: str, *, limit: int, offset: int = 0) -> list[Card]:
        with self._file.reading() as rows:
            return members(rows, cluster, limit=limit, offset=offset)

    def delete(self, ids: Iterable[str]) -> int:
        with self._file.writing() as rows:
            numbers = [number for (number,) in _by_id(rows, "number", "page", keys(ids))]
            remove_pages(rows, numbers)
        return len(numbers)

    def count(self, where: Filters = Filters()) -> int:
        condition, parameters = conditions(where)
        with self._file.reading() as rows:
            count: int = rows.execute(f"SELECT count(*) FROM page WHERE {condition}", parameters).fetchone()[0]
        return count

    def statistics(self) -> Statistics:
        with self._file.reading() as rows:
            pages, urls, sites = rows.execute(
                "SELECT count(*), count(DISTINCT url), count(DISTINCT site) FROM page"
            ).fetchone()
            dropped = array("I", gone_pages(rows))
            frequencies = {field: Postings(rows, field).frequencies(dropped) for field in FIELDS}
            return Statistics(pages, urls, sites, frequencies, sizes(rows, self.path))

    def setting(self, name: str) -> Any:
        with self._file.reading() as rows:
            row = rows.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
            return row and value_of(row[0])

    def settings(self, beginning: str = "") -> dict[str, Any]:
        with self._file.reading() as rows:
            found = rows.execute(
                "SELECT name, value FROM setting WHERE substr(name, 1, ?) = ?", (len(beginning), beginning)
            )
            return {name: value_of(value) for name, value in found}

    def set_setting(self, name: str, value: Any) -> None:
        with self._file.writing() as rows:
            if value is None:
                rows.execute("DELETE FROM setting WHERE name = ?", (name,))
            else:
                rows.execute("INSERT OR REPLACE INTO setting VALUES (?, ?)", (name, json.dumps(value)))

    def close(self) -> None:
        self._views.close()
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _column(self, make: Callable[[bytes], Made], column: str, table: str, ids: Sequence[str]) -> list[Made]:
        """Of pages by id, in their order; that of no bytes where there is none."""
        with self._file.reading() as rows:
            found = dict(_by_id(rows, f"page.id, {column}", f"page JOIN {table} USING (number)", keys(ids)))
            return [make(found.get(key, b"")) for id_ in ids for key in keys([id_]) or [b""]]

    def _all(self, make: Callable[[Row], Made], columns: str, table: str, where: Filters) -> Iterator[Made]:
        condition, parameters = conditions(where)
        with self._file.reading_on_own_connection() as rows:
            found = rows.execute(f"SELECT {columns} FROM {table} WHERE {condition} ORDER BY place", parameters)
            while some := found.fetchmany(AT_ONCE):
                yield from map(make, some)


def _by_id(rows: sqlite3.Connection, columns: str, table: str, keys: Sequence[bytes]) -> Iterator[Any]:
    different = list(dict.fromkeys(keys))
    for start in range(0, len(different), PARAMETERS):
        some = different[start : start + PARAMETERS]
        marks = ", ".join("?" * len(some))
        yield from rows.execute(f"SELECT {columns} FROM {table} WHERE page.id IN ({marks})", some)
