"""Builds query and search bodies for OpenSearch and Elasticsearch: plain dictionaries, for any client.

Nothing here depends on a client or a store. Tokens are strings, as documents contain them.
"""

from opensearch_winnow.queries.dsl.deduplicate_search_body import deduplicate_search_body
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.dsl.overlap import overlap
from opensearch_winnow.queries.dsl.pages import best, count, first, following, pages
from opensearch_winnow.queries.dsl.scores import least_shared, scored, shares
from opensearch_winnow.queries.dsl.words import words_query

__all__ = [
    "best",
    "conditions",
    "count",
    "deduplicate_search_body",
    "first",
    "following",
    "least_shared",
    "overlap",
    "pages",
    "scored",
    "shares",
    "words_query",
]
