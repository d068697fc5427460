"""Reads the sizes of the near-duplicate clusters in an embedded store."""

from __future__ import annotations

import sqlite3

from opensearch_winnow.mappings.record import storable
from opensearch_winnow.mappings.sqlite_schema import unpacked
from opensearch_winnow.stores.store import ClusterSize

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
SIZES = """
WITH listed AS (
    SELECT cluster, pages FROM ({sizes}) WHERE pages >= :least AND {on_site}
    ORDER BY {largest_first} LIMIT :limit OFFSET :offset
)
SELECT cluster, pages, count(DISTINCT site), count(DISTINCT url) FROM (
    SELECT listed.cluster, pages, url, site FROM listed JOIN page ON page.cluster = listed.cluster
    UNION ALL
    SELECT listed.cluster, pages, url, site FROM listed JOIN page ON page.id = listed.cluster WHERE page.cluster IS NULL
)
GROUP BY cluster ORDER BY {largest_first}
"""


def cluster_sizes(
    db: sqlite3.Connection, *, least: int, site: str | None, limit: int, offset: int
) -> list[ClusterSize]:
    """Return the clusters with at least `least` pages, one of them on `site` if given: largest first, then by id."""
    sizes = SIZES.format(
        sizes=SIZES_FROM_MEMBERS if least > 1 else SIZES_OF_ALL,
        on_site="true" if site is None else ON_SITE,
        largest_first=LARGEST_FIRST,
    )
    values = {"least": least, "site": site and storable(site), "limit": limit, "offset": offset}
    return [ClusterSize(unpacked(cluster), *counts) for cluster, *counts in db.execute(sizes, values)]
