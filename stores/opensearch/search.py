"""Full-text search: the best pages first, then by id."""

from __future__ import annotations

from collections.abc import Sequence

from opensearch_winnow.mappings.opensearch_document import CARD_FIELDS, card_of
from opensearch_winnow.queries.dsl.filters import Clause, conditions
from opensearch_winnow.queries.dsl.pages import AT_ONCE, best, following
from opensearch_winnow.queries.dsl.words import words_query
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.opensearch.cluster import Cluster, total
from opensearch_winnow.stores.opensearch.cluster import Hit as Found
from opensearch_winnow.stores.snippet import snippet
from opensearch_winnow.stores.store import Hit, Hits

SHOWN = (*CARD_FIELDS, "text")
# Words are weighed by all shards together, so that scores do not depend on how pages are spread.
GLOBAL = {"search_type": "dfs_query_then_fetch"}


def search_words(cluster: Cluster, words: Words, where: Filters, *, limit: int, offset: int) -> Hits:
    query = words_query(words, conditions(where))
    if query is None:
        return Hits(0, [])
    if limit <= 0:
        return Hits(cluster.count([query]), [])
    offset = max(offset, 0)
    pages, ranked = _ranked(cluster, query, offset + limit, fields=() if offset else SHOWN)
    shown = ranked[offset : offset + limit]
    unread = [hit["_id"] for hit in shown if "_source" not in hit]
    sources = {hit["_id"]: hit.get("_source") for hit in shown} | cluster.sources(unread, SHOWN)
    return Hits(
        pages,
        [
            Hit(card_of(hit["_id"], source), hit["_score"], snippet(source["text"], words.wanted))
            for hit in shown
            if (source := sources[hit["_id"]])  # else somebody has just deleted it
        ],
    )


def _ranked(cluster: Cluster, query: Clause, end: int, *, fields: Sequence[str]) -> tuple[int, list[Found]]:
    """How many pages there are, and at least the first ones up to `end`, in their order.

    Engines cannot sort by id without holding all of them in memory. So of pages with one score all are read, where some
    of them are shown and some are not.
    """
    search = best(query, size=min(end + 1, AT_ONCE), fields=fields or False)
    answer = cluster.search(search | {"track_total_hits": True}, **GLOBAL)
    hits: list[Found] = answer["hits"]["hits"]
    rest = following(search, hits)
    while rest is not None and (len(hits) < end or hits[end - 1]["_score"] == hits[-1]["_score"]):
        rest |= {"size": AT_ONCE, "_source": False}
        some = cluster.search(rest, **GLOBAL)["hits"]["hits"]
        hits += some
        rest = following(rest, some)
    return total(answer), sorted(hits, key=lambda hit: (-hit["_score"], hit["_id"]))
