"""Reads the sizes of the near-duplicate clusters in an embedded store."""

from __future__ import annotations

import sqlite3

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
CLUSTER_AS_TEXT = "CASE typeof(cluster) WHEN 'blob' THEN lower(hex(cluster)) ELSE cluster END"
MEMBERS = (
    "(SELECT * FROM page WHERE cluster = :cluster UNION ALL SELECT * FROM page WHERE id = :cluster AND cluster IS NULL)"
)


def cluster_sizes(db: sqlite3.Connection, *, least: int, limit: int, offset: int) -> list[ClusterSize]:
    """Return the clusters with at least `least` pages, the largest first, then by id."""
    sizes = db.execute(
        f"SELECT cluster, pages FROM ({SIZES_FROM_MEMBERS if least > 1 else SIZES_OF_ALL}) WHERE pages >= ?"
        f" ORDER BY pages DESC, {CLUSTER_AS_TEXT} LIMIT ? OFFSET ?",
        (least, limit, offset),
    ).fetchall()
    return [ClusterSize(unpacked(cluster), pages, _sites(db, cluster)) for cluster, pages in sizes]


def _sites(db: sqlite3.Connection, cluster: bytes | str) -> int:
    count: int = db.execute(f"SELECT count(DISTINCT site) FROM {MEMBERS}", {"cluster": cluster}).fetchone()[0]
    return count
