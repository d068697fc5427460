"""Parts for clients of your own: fields, queries, groups and bulk requests for OpenSearch and Elasticsearch."""

from opensearch_winnow.foundation.stub_names import from_stub

__getattr__, __all__ = from_stub(__name__, __file__)
