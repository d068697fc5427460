"""The pages of a file that have the words, looked at in parts, as they were when the view was made."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from types import TracebackType
from typing import Self

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.sqlite_schema import packed, unpacked
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.results import FacetName
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded.file import StoreFile, reporting_sqlite_errors
from opensearch_winnow.stores.embedded.ranking import Ranking
from opensearch_winnow.stores.embedded.rows import CARD, Row, card_of, hashes_of, text_of, time_of
from opensearch_winnow.stores.store import Facet, Ranked

AT_ONCE = 1_000  # pages whose clusters are looked at together
# A value of each facet, as SQL on table `page`. Times are in microseconds, and those of years before 0 are nobody's.
FACETS: dict[FacetName, str] = {
    "site": "site",
    "crawl": "crawl",
    "month": "coalesce(strftime('%Y-%m', fetched_at / 1e6, 'unixepoch'), '')",
    "year": "coalesce(strftime('%Y', fetched_at / 1e6, 'unixepoch'), '')",
}


class EmbeddedView:
    """In a transaction, in which the file stays as it is, whoever writes to it."""

    def __init__(self, file: StoreFile, words: Words, where: Filters, *, kept: bool = False) -> None:
        self.key = ""
        self._name = file.name
        self._open = ExitStack()
        self._firsts: list[tuple[int, float]] = []  # the first page of each cluster, as far as was looked
        self._clusters: set[bytes | str] = set()
        self._looked = 0  # pages
        try:
            # One that is kept has a connection of its own, beside which the store can be used.
            self._rows: sqlite3.Connection = self._open.enter_context(file.reading_apart() if kept else file.reading())
            with reporting_sqlite_errors(self._name):
                self._ranking = Ranking(self._rows, words, where)
        except BaseException:
            self._open.close()
            raise

    @property
    def total(self) -> int:
        return self._ranking.total

    def ranked(self, start: int, end: int) -> Sequence[Ranked]:
        with reporting_sqlite_errors(self._name):
            return self._pages(self._ranking.first(end)[start:])

    def clustered(self, start: int, end: int) -> Sequence[Ranked]:
        with reporting_sqlite_errors(self._name):
            while len(self._firsts) < end and self._looked < self.total:
                self._look_at_clusters()
            return self._pages(self._firsts[start:end])

    def of_clusters(self, clusters: Collection[str]) -> Sequence[Ranked]:
        numbers: set[int] = set()
        with reporting_sqlite_errors(self._name):
            for cluster in map(packed, clusters):
                found = self._rows.execute(
                    "SELECT number FROM page WHERE cluster = ? UNION ALL"
                    " SELECT number FROM page WHERE id = ? AND cluster IS NULL",
                    (cluster, cluster),
                )
                numbers.update(number for (number,) in found)
            return self._pages(self._ranking.among(numbers))

    def cluster_count(self) -> tuple[int, bool]:
        with reporting_sqlite_errors(self._name):
            while self._looked < self.total:
                self._look_at_clusters()
        return len(self._firsts), True

    def read(self, pages: Sequence[Ranked]) -> Sequence[tuple[Card, str] | None]:
        columns = f"text, {CARD}"
        found = self._columns(columns, "page JOIN page_text USING (number)", [page.place for page in pages])
        return [(card_of(row[1:]), text_of(row[0])) for row in found]

    def sketches(self, pages: Sequence[Ranked]) -> Sequence[array[int]]:
        return [hashes_of(row[0]) for row in self._columns("sketch", "page_hashes", [page.place for page in pages])]

    def facets(self, name: FacetName, *, limit: int, clusters: bool = False) -> list[Facet]:
        number_of = "count(DISTINCT coalesce(cluster, page.id))" if clusters else "0"
        with reporting_sqlite_errors(self._name):
            found = self._rows.execute(
                f"SELECT {FACETS[name]} AS value, count(*) AS pages, {number_of}"
                " FROM json_each(?) AS wanted JOIN page ON number = wanted.value"
                " GROUP BY 1 ORDER BY pages DESC, value LIMIT ?",
                (json.dumps(self._ranking.numbers.tolist()), limit),
            )
            return [Facet(*row) for row in found]

    def close(self) -> None:
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _pages(self, ranked: Sequence[tuple[int, float]]) -> list[Ranked]:
        rows = self._columns(
            "page.id, url, site, crawl, fetched_at, cluster, shingle_count, minhash",
            "page JOIN page_hashes USING (number)",
            [number for number, _ in ranked],
        )
        return [
            Ranked(
                url=url,
                site=site,
                crawl=crawl,
                fetched_at=time_of(time),
                score=score,
                cluster=unpacked(id_ if cluster is None else cluster),
                shingle_count=shingle_count,
                minhash=minhash,
                place=number,
            )
            for (number, score), (id_, url, site, crawl, time, cluster, shingle_count, minhash) in zip(
                ranked, rows, strict=True
            )
        ]

    def _look_at_clusters(self) -> None:
        some = self._ranking.first(self._looked + AT_ONCE)[self._looked :]
        rows = self._columns("coalesce(cluster, id)", "page", [number for number, _ in some])
        for each, (cluster,) in zip(some, rows, strict=True):
            if cluster not in self._clusters:
                self._clusters.add(cluster)
                self._firsts.append(each)
        self._looked += len(some)

    def _columns(self, columns: str, table: str, numbers: Sequence[int]) -> list[Row]:
        """Of pages by their numbers, in this order."""
        with reporting_sqlite_errors(self._name):
            found = self._rows.execute(
                f"SELECT number, {columns} FROM {table} WHERE number IN (SELECT value FROM json_each(?))",
                (json.dumps(numbers),),
            )
            rows = {number: row for number, *row in found}
            if len(rows) != len(set(numbers)):
                raise sqlite3.DatabaseError("a row is missing")
            return [rows[number] for number in numbers]
