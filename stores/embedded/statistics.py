"""Counts the pages, clusters, crawls, token frequencies and bytes of an embedded store."""

from __future__ import annotations

import sqlite3
from collections import Counter
from pathlib import Path

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.mappings.stored_fields import unpacked_digest
from opensearch_winnow.stores.embedded.postings import Postings
from opensearch_winnow.stores.embedded.rows import time_of
from opensearch_winnow.stores.embedded.writes import FIELDS, gone_pages
from opensearch_winnow.stores.store import ClusterSize, Crawl, Statistics

SIZES_TABLE = "dbstat"  # a virtual table; some builds of SQLite do not have it
# The content of tables, by the beginning of their names. The name of an index begins with that of its table.
TABLE_KINDS = {
    "page_text_digest": "pages",
    "page_text": "texts",
    "page_fingerprints": "hashes",
    "page_sketches": "hashes",
    "page": "pages",
    "source": "pages",
    "word": "text index",
    "fingerprints": "fingerprints",
    "sketch": "sketch",
    "bands": "bands",
}

# A page whose cluster is its own id has NULL in the column: a representative, or a page without near-duplicates. So the
# index of the column lists the clusters with members, and for each of them a lookup adds the representative, if it is
# in the store.
SIZES_FROM_MEMBERS = """
SELECT cluster, count(*) + EXISTS (
    SELECT 1 FROM page AS own WHERE own.id = page.cluster AND own.cluster IS NULL
) AS pages
FROM page WHERE cluster IS NOT NULL GROUP BY cluster LIMIT -1 -- without it SQLite does each lookup twice
"""
SIZES_OF_ALL = "SELECT coalesce(cluster, id) AS cluster, count(*) AS pages FROM page GROUP BY 1"
ON_SITE = "cluster IN (SELECT coalesce(cluster, id) FROM page WHERE site = :site)"
LARGEST_FIRST = "pages DESC, CASE typeof(cluster) WHEN 'blob' THEN lower(hex(cluster)) ELSE cluster END"
CLUSTER_SIZES = """
WITH listed AS (
    SELECT cluster, pages FROM ({sizes}) WHERE pages >= :min_pages AND {on_site}
    ORDER BY {largest_first} LIMIT :limit OFFSET :offset
)
SELECT cluster, pages, count(DISTINCT site), count(DISTINCT url) FROM (
    SELECT listed.cluster, pages, url, site FROM listed JOIN page ON page.cluster = listed.cluster
    UNION ALL
    SELECT listed.cluster, pages, url, site FROM listed JOIN page ON page.id = listed.cluster WHERE page.cluster IS NULL
)
GROUP BY cluster ORDER BY {largest_first}
"""
# NULL sorts as the smallest value.
CRAWLS = """
SELECT crawl, count(*), min(fetched_at), max(fetched_at) AS last FROM page WHERE crawl != ''
GROUP BY crawl ORDER BY last, max(arrival)
"""


def file_statistics(db: sqlite3.Connection, path: Path) -> Statistics:
    """Count the pages, URLs, sites and tokens of the store in the file at `path`, and its bytes."""
    pages, urls, sites = db.execute("SELECT count(*), count(DISTINCT url), count(DISTINCT site) FROM page").fetchone()
    dropped = gone_pages(db)
    frequencies = {field: Postings(db, field).frequencies(dropped) for field in FIELDS}
    return Statistics(pages, urls, sites, frequencies, _sizes(db, path))


def crawls(db: sqlite3.Connection) -> list[Crawl]:
    """Return the crawls that have a name, in the order of their last captures; if these are equal, as written."""
    rows = db.execute(CRAWLS).fetchall()
    return [Crawl(name, captures, time_of(first), time_of(last)) for name, captures, first, last in rows]


def cluster_sizes(
    db: sqlite3.Connection, *, min_pages: int, site: str | None, limit: int, offset: int
) -> list[ClusterSize]:
    """Return the clusters of at least `min_pages` pages, one of them on `site` if given: largest first, then by id."""
    sizes = CLUSTER_SIZES.format(
        sizes=SIZES_FROM_MEMBERS if min_pages > 1 else SIZES_OF_ALL,
        on_site="true" if site is None else ON_SITE,
        largest_first=LARGEST_FIRST,
    )
    values = {"min_pages": min_pages, "site": site and storable(site), "limit": limit, "offset": offset}
    return [ClusterSize(unpacked_digest(cluster), *counts) for cluster, *counts in db.execute(sizes, values)]


def _sizes(db: sqlite3.Connection, path: Path) -> dict[str, int]:
    """Return the bytes of all files of a store, by use; without SIZES_TABLE, all tables as one entry."""
    files = {suffix: path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm")}
    lengths = {suffix: file.stat().st_size for suffix, file in files.items() if file.exists()}
    (free,) = db.execute("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size").fetchone()
    parts = Counter(free=free)
    try:
        # Summed here, because the sums of dbstat itself (aggregate = TRUE) have only 32 bits.
        for name, size in db.execute(f"SELECT name, sum(pgsize) FROM {SIZES_TABLE} GROUP BY name"):
            part = next((part for start, part in TABLE_KINDS.items() if name.startswith(start)), "other")
            parts[part] += size
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        parts["all"] = lengths[""] - free
    # The rest is the log. A page that is so far only in the log counts with its table.
    parts["log"] = sum(lengths.values()) - parts.total()
    return {part: size for part, size in parts.items() if size}
