"""Parquet files of records, read and written safely."""
