"""The sizes of the clusters in a file."""

from __future__ import annotations

import sqlite3

from opensearch_winnow.mappings.sqlite_schema import unpacked
from opensearch_winnow.stores.store import ClusterSize

# A page whose cluster is its own id has NULL there: the representative, or a page that is alone. Without these the
# index of clusters tells all that have a member, and for each of them it is looked whether its own page is there.
OF_MEMBERS = """
SELECT cluster, count(*) + EXISTS (
    SELECT 1 FROM page AS own WHERE own.id = page.cluster AND own.cluster IS NULL
) AS pages
FROM page WHERE cluster IS NOT NULL GROUP BY cluster LIMIT -1 -- else SQLite looks twice for each
"""
OF_ALL = "SELECT coalesce(cluster, id) AS cluster, count(*) AS pages FROM page GROUP BY 1"
AS_TEXT = "CASE typeof(cluster) WHEN 'blob' THEN lower(hex(cluster)) ELSE cluster END"
MEMBERS = (
    "(SELECT * FROM page WHERE cluster = :cluster UNION ALL SELECT * FROM page WHERE id = :cluster AND cluster IS NULL)"
)


def cluster_sizes(rows: sqlite3.Connection, *, least: int, limit: int, offset: int) -> list[ClusterSize]:
    found = rows.execute(
        f"SELECT cluster, pages FROM ({OF_MEMBERS if least > 1 else OF_ALL}) WHERE pages >= ?"
        f" ORDER BY pages DESC, {AS_TEXT} LIMIT ? OFFSET ?",
        (least, limit, offset),
    ).fetchall()
    return [ClusterSize(unpacked(cluster), pages, _sites(rows, cluster)) for cluster, pages in found]


def _sites(rows: sqlite3.Connection, cluster: bytes | str) -> int:
    count: int = rows.execute(f"SELECT count(DISTINCT site) FROM {MEMBERS}", {"cluster": cluster}).fetchone()[0]
    return count
