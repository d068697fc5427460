"""Searches by words: returns the best pages first, with snippets."""

from __future__ import annotations

from opensearch_winnow.mappings.opensearch_document import any_card_of
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.dsl.pages import MAX_RESULT_WINDOW
from opensearch_winnow.queries.dsl.ranked import BY_RANK
from opensearch_winnow.queries.dsl.words import words_query
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.opensearch.index_client import IndexClient, total
from opensearch_winnow.stores.opensearch.views import OpenSearchView
from opensearch_winnow.stores.snippet import hit_of
from opensearch_winnow.stores.store import Hits


def search_words(index: IndexClient, words: Words, where: Filters, *, limit: int, offset: int) -> Hits:
    """Find the pages with the words, best first, with snippets."""
    query = words_query(words, conditions(where))
    if query is None:
        return Hits(0, [])
    if limit <= 0:
        return Hits(index.count([query]), [])
    if offset <= 0 and limit <= MAX_RESULT_WINDOW:
        # Whole documents: taking fields out of them costs the engine more than sending them.
        search = {"query": query, "sort": BY_RANK, "size": limit, "track_total_hits": True}
        answer = index.dfs_search(search)
        found = answer["hits"]["hits"]
        documents = [(hit["_id"], hit["_score"], hit["_source"]) for hit in found]
        hits = [hit_of(any_card_of(id_, each), score, each.get("text", ""), words) for id_, score, each in documents]
        return Hits(total(answer), hits)
    view = OpenSearchView(index, query)
    pages = view.ranked(max(offset, 0), max(offset, 0) + limit)
    shown = zip(pages, view.read(pages), strict=True)
    return Hits(view.total, [hit_of(read[0], page.score, read[1], words) for page, read in shown if read])
