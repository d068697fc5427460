"""Pages of a copy that are no longer in the original: deleted there while they were copied."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from opensearchpy import OpenSearch, helpers

FEW = 1_000  # pages of a range of places whose ids are compared

Clause = dict[str, Any]


def delete_left_over(client: OpenSearch, old: str, new: str) -> int:
    """Delete from the new index what the old one does not have; how many. Both are refreshed, and not written to.

    All that the old one has is in the new one. So a range of places with as many pages in both has the same, and only
    those ranges are looked into that have not.
    """
    everywhere: list[Clause] = [{"bool": {"must_not": {"exists": {"field": "place"}}}}, {"exists": {"field": "place"}}]
    ids = [id_ for clause in everywhere for id_ in _left_over(client, old, new, clause)]
    helpers.bulk(client, ({"_op_type": "delete", "_index": new, "_id": id_} for id_ in ids))
    return len(ids)


def _left_over(client: OpenSearch, old: str, new: str, clause: Clause) -> Iterator[str]:
    before, after = (int(client.count(index=index, body={"query": clause})["count"]) for index in (old, new))
    if before == after:
        return
    middle = _middle(client, new, clause) if after > FEW else None
    if middle is None:
        yield from _ids(client, new, clause) - _ids(client, old, clause)
        return
    for side in ({"lte": middle}, {"gt": middle}):
        yield from _left_over(client, old, new, {"bool": {"filter": [clause, {"range": {"place": side}}]}})


def _middle(client: OpenSearch, index: str, clause: Clause) -> int | None:
    """A place with about half of the pages on each side; None if they cannot be told apart by it."""
    ends = []
    for order in ("asc", "desc"):
        body = {"size": 1, "query": clause, "sort": [{"place": order}], "_source": False, "docvalue_fields": ["place"]}
        hits = client.search(index=index, body=body)["hits"]["hits"]
        ends += [hit["fields"]["place"][0] for hit in hits if "place" in hit.get("fields", {})]
    if len(ends) < 2 or ends[0] == ends[1]:
        return None
    return int(ends[0] + (ends[1] - ends[0]) // 2)


def _ids(client: OpenSearch, index: str, clause: Clause) -> set[str]:
    found = helpers.scan(client, index=index, query={"query": clause, "_source": False}, size=FEW)
    return {hit["_id"] for hit in found}
