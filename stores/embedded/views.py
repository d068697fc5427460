"""Pages through the hits of a search in an embedded store, frozen when the view was made."""

from __future__ import annotations

import json
import sqlite3
from array import array
from collections.abc import Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from operator import itemgetter
from threading import RLock

from opensearch_winnow.foundation.closing import Closing
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.stored_fields import packed_digest, unpacked_digest
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.searching.results import FacetName
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded.file import StoreFile, reporting_sqlite_errors
from opensearch_winnow.stores.embedded.ranking import Ranking
from opensearch_winnow.stores.embedded.rows import (
    CARD,
    FACT_COLUMNS,
    FACT_NAMES,
    Row,
    card_of,
    facts_of,
    hashes_of,
    reporting_damage,
    text_of,
)
from opensearch_winnow.stores.embedded.seals import unsealed
from opensearch_winnow.stores.snippet import hit_of
from opensearch_winnow.stores.store import Facet, Hit, ViewHit

HIT_FACTS = ("url", "site", "crawl", "fetched_at", "shingle_count", "canonical")
ID_FACT = FACT_NAMES.index("id")
hit_values = itemgetter(*map(FACT_NAMES.index, HIT_FACTS))
PAGES_PER_QUERY = 1_000  # to read the clusters of
# The value of each facet, as SQL on table `page`. Times are in microseconds, and no page has a year before 0.
FACETS: dict[FacetName, str] = {
    "site": "site",
    "crawl": "crawl",
    "month": "coalesce(strftime('%Y-%m', fetched_at / 1e6, 'unixepoch'), '')",
    "year": "coalesce(strftime('%Y', fetched_at / 1e6, 'unixepoch'), '')",
}


class EmbeddedView(Closing):
    """The hits of a search in order, read in a transaction that does not see later writes."""

    def __init__(self, file: StoreFile, words: Words, where: Filters, *, keep_open: bool = False) -> None:
        self.key = ""
        self._words = words
        self._name = file.name
        self._turn = RLock()  # a view that is kept open may be used by several threads
        self._open = ExitStack()
        self._firsts: list[tuple[int, float]] = []  # the best page of each cluster among the pages read so far
        self._clusters: set[bytes | str] = set()
        self._pages_read = 0
        try:
            # A view that is kept open needs its own connection, so that the store can still be used.
            self._db: sqlite3.Connection = self._open.enter_context(
                file.reading_on_own_connection() if keep_open else file.reading()
            )
            with self._using():
                self._ranking = Ranking(self._db, words, where)
        except BaseException:
            self._open.close()
            raise

    @property
    def total(self) -> int:
        return self._ranking.total

    def hits(self, start: int, end: int) -> Sequence[Hit]:
        with self._using():
            ranked = self._ranking.first(end)[start:]
            documents = self._documents([number for number, _ in ranked])
            shown = zip(documents, ranked, strict=True)
            return [hit_of(card, score, text, self._words) for (card, text), (_, score) in shown]

    def ranked(self, start: int, end: int) -> Sequence[ViewHit]:
        with self._using():
            return self._pages(self._ranking.first(end)[start:])

    def clustered(self, start: int, end: int) -> Sequence[ViewHit]:
        with self._using():
            while len(self._firsts) < end and self._pages_read < self.total:
                self._look_at_clusters()
            return self._pages(self._firsts[start:end])

    def of_clusters(self, clusters: Collection[str]) -> Sequence[ViewHit]:
        numbers: set[int] = set()
        with self._using():
            for cluster in map(packed_digest, clusters):
                rows = self._db.execute(
                    "SELECT number FROM page WHERE cluster = ? UNION ALL"
                    " SELECT number FROM page WHERE id = ? AND cluster IS NULL",
                    (cluster, cluster),
                )
                numbers.update(number for (number,) in rows)
            return self._pages(self._ranking.among(numbers))

    def cluster_count(self) -> tuple[int, bool]:
        with self._using():
            while self._pages_read < self.total:
                self._look_at_clusters()
        return len(self._firsts), True

    def read(self, pages: Sequence[ViewHit]) -> Sequence[tuple[Card, str] | None]:
        return self._documents([page.view_key for page in pages])

    def sketches(self, pages: Sequence[ViewHit]) -> Sequence[array[int]]:
        numbers = [page.view_key for page in pages]
        with self._using():
            rows = self._columns("sketch", "page_sketches", numbers)
            return [hashes_of(unsealed(row[0], number)) for number, row in zip(numbers, rows, strict=True)]

    def facets(self, names: Sequence[FacetName], *, limit: int, clusters: bool = False) -> dict[FacetName, list[Facet]]:
        return {name: self._facet(name, limit, clusters=clusters) for name in names}

    def close(self) -> None:
        with self._turn:
            self._open.close()

    @contextmanager
    def _using(self) -> Iterator[None]:
        with self._turn, reporting_sqlite_errors(self._name):
            yield

    def _facet(self, name: FacetName, limit: int, *, clusters: bool) -> list[Facet]:
        cluster_count = "count(DISTINCT coalesce(cluster, page.id))" if clusters else "0"
        with self._using():
            rows = self._db.execute(
                f"SELECT {FACETS[name]} AS value, count(*) AS pages, {cluster_count}"
                " FROM json_each(?) AS wanted JOIN page ON number = wanted.value"
                " GROUP BY 1 ORDER BY pages DESC, value LIMIT ?",
                (json.dumps(self._ranking.numbers.tolist()), limit),
            )
            return [Facet(*row) for row in rows]

    def _documents(self, numbers: Sequence[int]) -> list[tuple[Card, str]]:
        with self._using():
            rows = self._columns(f"text, {CARD}", "page JOIN page_text USING (number)", numbers)
            return [(card_of(row[1:]), text_of(row[0], number)) for number, row in zip(numbers, rows, strict=True)]

    @reporting_damage
    def _pages(self, ranked: Sequence[tuple[int, float]]) -> list[ViewHit]:
        rows = self._columns(
            f"cluster, minhash, {FACT_COLUMNS}",
            "page JOIN page_sketches USING (number)",
            [number for number, _ in ranked],
        )
        pages = []
        for (number, score), (cluster, minhash, *row) in zip(ranked, rows, strict=True):
            facts = facts_of(row)
            pages.append(
                ViewHit(
                    **dict(zip(HIT_FACTS, hit_values(facts), strict=True)),
                    score=score,
                    cluster=facts[ID_FACT] if cluster is None else unpacked_digest(cluster),
                    minhash=unsealed(minhash, number),
                    view_key=number,
                )
            )
        return pages

    def _look_at_clusters(self) -> None:
        pages = self._ranking.first(self._pages_read + PAGES_PER_QUERY)[self._pages_read :]
        rows = self._columns("coalesce(cluster, id)", "page", [number for number, _ in pages])
        for page, (cluster,) in zip(pages, rows, strict=True):
            if cluster not in self._clusters:
                self._clusters.add(cluster)
                self._firsts.append(page)
        self._pages_read += len(pages)

    def _columns(self, columns: str, table: str, numbers: Sequence[int]) -> list[Row]:
        """Return columns of pages by number, in the order of `numbers`."""
        with self._using():
            cursor = self._db.execute(
                f"SELECT number, {columns} FROM {table} WHERE number IN (SELECT value FROM json_each(?))",
                (json.dumps(numbers),),
            )
            rows = {number: row for number, *row in cursor}
            if len(rows) != len(set(numbers)):
                raise sqlite3.DatabaseError("a row is missing")
            return [rows[number] for number in numbers]
