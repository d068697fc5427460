"""Files where Spark finds them: on a local disk, HDFS, S3 or any other file system that Hadoop knows."""

from __future__ import annotations

import os
import re
from io import BytesIO
from tempfile import gettempdir
from time import sleep
from typing import Any, NamedTuple
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from opensearch_winnow.clusters.asked import ClusterError

MAGIC = b"PAR1"
TRIES = 50
END = 8  # bytes after the footer of a Parquet file: its length, and the magic


class HadoopFile(NamedTuple):
    path: str  # with its file system
    name: str
    size: int

    @property
    def shown(self) -> str:
        return shown(self.path)


def shown(path: str) -> str:
    """A local path as a person writes it."""
    return path.removeprefix("file://").removeprefix("file:")


def escaped(path: str) -> str:
    """A path that Spark does not take for a pattern."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


class HadoopFiles:
    """The file systems of a session."""

    def __init__(self, session: SparkSession) -> None:
        self._jvm: Any = session.sparkContext._jvm
        self._settings: Any = session.sparkContext._jsc.hadoopConfiguration()

    def listed(self, path: str) -> list[HadoopFile] | None:
        """The file itself, or what is in a folder; None if there is neither."""
        place, system = self._at(path)
        try:
            found = system.listStatus(place)
        except Py4JJavaError as error:
            if _kind(error) == "FileNotFoundException":
                return None
            raise ClusterError(f"{path} cannot be read: {_said(error)}") from None
        return [
            HadoopFile(str(each.getPath().toString()), str(each.getPath().getName()), int(each.getLen()))
            for each in found
            if each.isFile()
        ]

    def is_folder(self, path: str) -> bool:
        place, system = self._at(path)
        return bool(system.exists(place)) and bool(system.getFileStatus(place).isDirectory())

    def exists(self, path: str) -> bool:
        place, system = self._at(path)
        return bool(system.exists(place))

    def footer(self, file: HadoopFile) -> BytesIO:
        """A Parquet file of nothing but its footer, which is all that its metadata needs."""
        place, system = self._at(file.path)
        try:
            stream = system.open(place)
            try:
                stream.seek(max(file.size - END, 0))
                end = bytes(stream.readNBytes(END))
                length = int.from_bytes(end[:4], "little") + END
                if not end.endswith(MAGIC) or length > file.size:
                    return BytesIO(end)  # which is no Parquet file, as whoever reads it will say
                stream.seek(file.size - length)
                return BytesIO(MAGIC + bytes(stream.readNBytes(length)))
            finally:
                stream.close()
        except Py4JJavaError as error:
            raise ClusterError(f"{file.shown} cannot be read: {_said(error)}") from None

    def hidden(self, path: str, suffix: str) -> str:
        """A name beside it that Spark, DuckDB and others pass over."""
        place, _ = self._at(path)
        name = f".{place.getName()}.{suffix}"
        parent = place.getParent()
        return name if parent is None else str(self._path(parent, name).toString())

    def full(self, path: str) -> str:
        """With its file system, and without dots."""
        place, system = self._at(path)
        return str(system.makeQualified(place).toString())

    def scratch(self, parent: str | None = None) -> str:
        """The name of a new folder to work in: in the one that is named, else where there are such things."""
        name = f".winnow-{uuid4()}"
        if parent is None:
            system = self._jvm.org.apache.hadoop.fs.FileSystem.get(self._settings)
            home = str(system.getHomeDirectory().toString())  # one that all machines see, if they share a file system
            parent = gettempdir() if self._system() == "file" else home
        return str(self._path(parent, name).toString())

    def remove(self, path: str) -> None:
        """It and all that is in it, if it is there."""
        place, system = self._at(path)
        for _ in range(TRIES):
            system.delete(place, True)
            if not system.exists(place):
                return
            sleep(0.1)  # a task that was ended may still put something there

    def put(self, path: str, target: str) -> None:
        """Give it the name of the target, in place of what is there."""
        place, system = self._at(path)
        end = self._path(target)
        old = self._path(self.hidden(target, "old"))
        try:
            system.delete(old, True)
            replaced = system.exists(end) and system.rename(end, old)
            if not system.rename(place, end):
                if replaced:
                    system.rename(old, end)
                raise ClusterError(f"{target} cannot be written: the file system refuses to rename {path} to it")
            system.delete(old, True)
        except Py4JJavaError as error:
            raise ClusterError(f"{target} cannot be written: {_said(error)}") from None

    def _at(self, path: str) -> tuple[Any, Any]:
        try:
            place = self._path(path)
            return place, place.getFileSystem(self._settings)
        except Py4JJavaError as error:
            raise ClusterError(f"{path} is nothing that Spark can find: {_said(error)}") from None

    def _path(self, *parts: Any) -> Any:
        first, *rest = parts
        if isinstance(first, str) and not first.startswith("/") and ":" not in first and self._system() == "file":
            first = os.path.abspath(first)  # noqa: PTH100 (Java does not know where we went since it was started)
        return self._jvm.org.apache.hadoop.fs.Path(first, *rest)

    def _system(self) -> str:
        """That of paths which name none."""
        return str(self._jvm.org.apache.hadoop.fs.FileSystem.get(self._settings).getScheme())


def _kind(error: Py4JJavaError) -> str:
    return str(error.java_exception.getClass().getSimpleName())


def _said(error: Py4JJavaError) -> str:
    return str(error.java_exception.getMessage() or _kind(error)).partition("\n")[0]
