"""Reads and writes record files: Parquet files of records, one or a folder of them."""
