"""The types of arguments and answers, for annotations."""

from opensearch_winnow.foundation.stub_names import from_stub

__getattr__, __all__ = from_stub(__name__, __file__)
