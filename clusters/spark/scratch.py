"""What is kept between steps."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from opensearch_winnow.clusters.spark.hadoop_files import HadoopFiles


class Scratch:
    """A folder of Parquet tables, seen by all machines: no step is done twice, and no plan grows.

    Unlike a cached table it is not lost with a machine, it takes no memory, and only the columns that a step wants are
    read.
    """

    def __init__(self, session: SparkSession, files: HadoopFiles, folder: str) -> None:
        self._session = session
        self._files = files
        self._folder = folder
        files.remove(folder)

    def keep(self, name: str, table: DataFrame) -> DataFrame:
        """The table as it is written now."""
        path = f"{self._folder}/{name}"
        table.write.parquet(path)
        return self._session.read.schema(table.schema).parquet(path)

    def drop(self, name: str) -> None:
        self._files.remove(f"{self._folder}/{name}")

    def close(self) -> None:
        self._files.remove(self._folder)
