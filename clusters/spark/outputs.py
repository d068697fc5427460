"""The tables of a run, which nobody sees before all are complete."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame

from opensearch_winnow.clusters.asked import ClusterError
from opensearch_winnow.clusters.spark.hadoop_files import HadoopFiles

NOTHING: Mapping[str, str] = {}


class Outputs:
    """Folders of Parquet, each written beside its place under a name that Spark and others pass over."""

    def __init__(
        self, files: HadoopFiles, targets: Sequence[str | None], sources: Sequence[str] = (), *, overwrite: bool
    ) -> None:
        self._files = files
        self._hidden: dict[str, str] = {}
        self._written: list[str] = []
        for target in targets:
            if target is None:
                continue
            full = files.full(target)
            if full in self._hidden:
                raise ClusterError(f"{target} is named twice as an output; name another folder")
            if any(f"{files.full(source)}/".startswith(f"{full}/") for source in sources):
                raise ClusterError(f"{target} has the records that are read; name another folder")
            if files.exists(full) and not overwrite:
                raise ClusterError(f"{target} exists; name another folder, or add --overwrite to replace it")
            self._hidden[full] = files.hidden(full, "new")

    @property
    def scratch(self) -> str:
        """The name of a folder beside the first of them, or where there are such things."""
        for first in self._hidden:
            return self._files.hidden(first, "work")
        return self._files.scratch()

    def write(self, target: str, table: DataFrame, options: Mapping[str, str] = NOTHING) -> None:
        hidden = self._hidden[self._files.full(target)]
        table.write.mode("overwrite").options(**options).parquet(hidden)
        self._written.append(hidden)

    def place(self) -> None:
        """Put all that was written in place."""
        for target, hidden in self._hidden.items():
            if hidden in self._written:
                self._files.put(hidden, target)

    def discard(self) -> None:
        """Leave no trace. Does nothing after `place`."""
        for hidden in self._hidden.values():
            self._files.remove(hidden)
