"""Batch work: clusters of record files, on DuckDB or Spark, repeated passages, and reports of a set."""

from opensearch_winnow.foundation.stub_names import from_stub

__getattr__, __all__ = from_stub(__name__, __file__)
