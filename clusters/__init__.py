"""Clusters near-duplicates in batch, on DuckDB or Spark: records → pairs → verified edges → clusters."""
