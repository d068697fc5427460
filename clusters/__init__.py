"""Batches: records → pairs → verified edges → clusters, on DuckDB or Spark."""
