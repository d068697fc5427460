"""Clusters of a whole crawl: records → pairs → verified edges → clusters, on DuckDB or Spark."""
