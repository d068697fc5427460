"""Lists, reads, renames and removes files on any file system that Hadoop knows: a local disk, HDFS, S3 and others."""

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

from opensearch_winnow.foundation.errors import FileError

PARQUET_MAGIC = b"PAR1"
PARQUET_END = 8  # bytes after the footer of a Parquet file: its length and the magic
MAX_REMOVALS = 50  # a tenth of a second apart


class HadoopFile(NamedTuple):
    """A file on some file system."""

    path: str  # with the file system, such as hdfs: or file:
    name: str
    size: int

    @property
    def local_name(self) -> str:
        """The path as a person would write it."""
        return without_file_scheme(self.path)


def without_file_scheme(path: str) -> str:
    return path.removeprefix("file://").removeprefix("file:")


def escape_pattern(path: str) -> str:
    """Escape the characters that Spark would read as a pattern."""
    return re.sub(r"([\\*?\[\]{}])", r"\\\1", path)


class HadoopFiles:
    """The file systems of a Spark session."""

    def __init__(self, session: SparkSession) -> None:
        self._jvm: Any = session.sparkContext._jvm
        self._settings: Any = session.sparkContext._jsc.hadoopConfiguration()

    def list_files(self, path: str) -> list[HadoopFile] | None:
        """Return the file at `path`, or the files in that folder; None if there is neither."""
        location, system = self._locate(path)
        try:
            statuses = system.listStatus(location)
        except Py4JJavaError as error:
            if _class_name(error) == "FileNotFoundException":
                return None
            raise FileError(f"{path} cannot be read: {_message(error)}") from None
        return [
            HadoopFile(str(each.getPath().toString()), str(each.getPath().getName()), int(each.getLen()))
            for each in statuses
            if each.isFile()
        ]

    def is_folder(self, path: str) -> bool:
        location, system = self._locate(path)
        return bool(system.exists(location)) and bool(system.getFileStatus(location).isDirectory())

    def exists(self, path: str) -> bool:
        location, system = self._locate(path)
        return bool(system.exists(location))

    def footer(self, file: HadoopFile) -> BytesIO:
        """Return a Parquet file that consists of the footer of `file`, which is enough to read its metadata."""
        location, system = self._locate(file.path)
        try:
            stream = system.open(location)
            try:
                stream.seek(max(file.size - PARQUET_END, 0))
                end = bytes(stream.readNBytes(PARQUET_END))
                length = int.from_bytes(end[:4], "little") + PARQUET_END
                if not end.endswith(PARQUET_MAGIC) or length > file.size:
                    return BytesIO(end)  # not a Parquet file: its reader reports that
                stream.seek(file.size - length)
                return BytesIO(PARQUET_MAGIC + bytes(stream.readNBytes(length)))
            finally:
                stream.close()
        except Py4JJavaError as error:
            raise FileError(f"{file.local_name} cannot be read: {_message(error)}") from None

    def hidden_path(self, path: str, suffix: str) -> str:
        """Return a path beside `path` that Spark, DuckDB and others ignore."""
        location, _ = self._locate(path)
        name = f".{location.getName()}.{suffix}"
        parent = location.getParent()
        return name if parent is None else str(self._path(parent, name).toString())

    def full_path(self, path: str) -> str:
        """Return the absolute path with its file system."""
        location, system = self._locate(path)
        return str(system.makeQualified(location).toString())

    def new_folder(self, parent: str | None = None) -> str:
        """Return the path of a new folder in `parent`, by default in the temporary folder or the home directory."""
        name = f".winnow-{uuid4()}"
        if parent is None:
            system = self._jvm.org.apache.hadoop.fs.FileSystem.get(self._settings)
            home = str(system.getHomeDirectory().toString())  # all machines see it if they share a file system
            parent = gettempdir() if self._default_system() == "file" else home
        return str(self._path(parent, name).toString())

    def remove(self, path: str) -> None:
        """Remove a file or a folder with all it contains, if it exists."""
        location, system = self._locate(path)
        for _ in range(MAX_REMOVALS):
            system.delete(location, True)
            if not system.exists(location):
                return
            sleep(0.1)  # a cancelled task may still be writing to it

    def replace(self, path: str, target: str) -> None:
        """Rename `path` to `target`, and remove the old `target`."""
        location, system = self._locate(path)
        end = self._path(target)
        old = self._path(self.hidden_path(target, "old"))
        try:
            system.delete(old, True)
            replaced = system.exists(end) and system.rename(end, old)
            if not system.rename(location, end):
                if replaced:
                    system.rename(old, end)
                raise FileError(f"{target} cannot be written: the file system refuses to rename {path} to it")
            system.delete(old, True)
        except Py4JJavaError as error:
            raise FileError(f"{target} cannot be written: {_message(error)}") from None

    def _locate(self, path: str) -> tuple[Any, Any]:
        """Return Hadoop's Path and FileSystem of a path."""
        try:
            location = self._path(path)
            return location, location.getFileSystem(self._settings)
        except Py4JJavaError as error:
            raise FileError(f"Spark cannot find {path}: {_message(error)}") from None

    def _path(self, *parts: Any) -> Any:
        first, *rest = parts
        is_relative = isinstance(first, str) and not first.startswith("/") and ":" not in first
        if is_relative and self._default_system() == "file":
            first = os.path.abspath(first)  # noqa: PTH100 (Java keeps the working directory that it started in)
        return self._jvm.org.apache.hadoop.fs.Path(first, *rest)

    def _default_system(self) -> str:
        """Return the file system of paths that name none."""
        return str(self._jvm.org.apache.hadoop.fs.FileSystem.get(self._settings).getScheme())


def _class_name(error: Py4JJavaError) -> str:
    return str(error.java_exception.getClass().getSimpleName())


def _message(error: Py4JJavaError) -> str:
    return str(error.java_exception.getMessage() or _class_name(error)).partition("\n")[0]
