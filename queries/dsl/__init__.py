"""Questions as the plain dictionaries that OpenSearch and Elasticsearch take, for any client.

Nothing here knows a client or a store. Tokens are strings, as they stand in documents.
"""

from opensearch_winnow.queries.dsl.dedupe import dedupe
from opensearch_winnow.queries.dsl.filters import conditions
from opensearch_winnow.queries.dsl.overlap import overlap
from opensearch_winnow.queries.dsl.pages import best, count, first, following, pages
from opensearch_winnow.queries.dsl.scores import least_shared, scored, shares
from opensearch_winnow.queries.dsl.words import words_query

__all__ = [
    "best",
    "conditions",
    "count",
    "dedupe",
    "first",
    "following",
    "least_shared",
    "overlap",
    "pages",
    "scored",
    "shares",
    "words_query",
]
