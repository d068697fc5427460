"""Finds copies in a crawl: near-duplicate pages and quoted passages."""

from opensearch_winnow.foundation.stub_names import from_stub

__version__ = "0.1.0.dev0"
__getattr__, __all__ = from_stub(__name__, __file__)
