"""Folders of Parquet files that a Spark run writes: its outputs, and the tables it keeps between two steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession

from opensearch_winnow.clusters.options import ClusterError
from opensearch_winnow.clusters.spark.hadoop_files import HadoopFiles
from opensearch_winnow.foundation.atomic_file import already_there

NO_OPTIONS: Mapping[str, str] = {}


class Outputs:
    """Folders to write. Each is written beside its target under a hidden name, and all appear at the end."""

    def __init__(
        self, files: HadoopFiles, targets: Sequence[str | None], sources: Sequence[str] = (), *, overwrite: bool
    ) -> None:
        self._files = files
        self._hidden: dict[str, str] = {}
        self._written: list[str] = []
        for target in targets:
            if target is None:
                continue
            full = files.full_path(target)
            if full in self._hidden:
                raise ClusterError(f"{target} is named twice as an output: name another folder")
            if any(f"{files.full_path(source)}/".startswith(f"{full}/") for source in sources):
                raise ClusterError(f"{target} contains the records to read: name another folder")
            if files.exists(full) and not overwrite:
                raise already_there(target)
            self._hidden[full] = files.hidden_path(full, "new")

    @property
    def scratch_folder(self) -> str:
        """The name of a hidden folder beside the first output, or of a new temporary folder if there is none."""
        for first in self._hidden:
            return self._files.hidden_path(first, "work")
        return self._files.new_folder()

    def write(self, target: str, table: DataFrame, options: Mapping[str, str] = NO_OPTIONS) -> None:
        hidden = self._hidden[self._files.full_path(target)]
        table.write.mode("overwrite").options(**options).parquet(hidden)
        self._written.append(hidden)

    def commit(self) -> None:
        """Rename all written folders to their targets."""
        for target, hidden in self._hidden.items():
            if hidden in self._written:
                self._files.replace(hidden, target)

    def discard(self) -> None:
        """Remove all written folders. Does nothing after `commit`."""
        for hidden in self._hidden.values():
            self._files.remove(hidden)


class Scratch:
    """A folder with the tables between two steps, so that no step is computed twice and no query plan grows.

    Unlike a cached table, a written one survives the loss of a machine, takes no memory, and is read by column.
    """

    def __init__(self, session: SparkSession, files: HadoopFiles, folder: str) -> None:
        self._session = session
        self._files = files
        self._folder = folder
        files.remove(folder)

    def keep(self, name: str, table: DataFrame) -> DataFrame:
        """Write a table, and return the table that reads it."""
        path = f"{self._folder}/{name}"
        table.write.parquet(path)
        return self._session.read.schema(table.schema).parquet(path)

    def drop(self, name: str) -> None:
        self._files.remove(f"{self._folder}/{name}")

    def close(self) -> None:
        self._files.remove(self._folder)
