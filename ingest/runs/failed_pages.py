"""Writes failed pages to a file that is itself a source, to index them again when the cause is fixed."""

from __future__ import annotations

import json
import shutil
from base64 import b64encode
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from typing import Self

from opensearch_winnow.foundation.atomic_file import AtomicFile, check_target, wait_for_file
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.split import Failed

WAIT_SECONDS = 60.0  # for another run that is writing the same file, which takes it an instant


class FailedPages:
    """A file of JSON lines, one for each failed page. Use it as a context manager; the file changes on exit.

    Lines of earlier runs are kept, except for sources that this run has read to their end: pages that still fail there
    have a new line. If there is no line to write, the file is removed. Several runs at a time may share the file: each
    collects its lines in a file without a name, and adds them at its end.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.incomplete = True  # until the caller says that the sources were read to their end
        self._sources: set[str] = set()
        check_target(path)
        with self._reporting_write_errors():
            self._file = TemporaryFile(dir=path.absolute().parent)  # noqa: SIM115 (closed on exit)

    def __enter__(self) -> Self:
        return self

    def reading(self, source: str) -> None:
        """Note that this run reads `source`."""
        self._sources.add(source)

    def add(self, failed: Failed, source: str) -> None:
        line = {**_fields(failed.page), "reason": failed.reason, "source": source}
        html = failed.page.html
        with self._reporting_write_errors():
            if isinstance(html, bytes):
                self._file.write(json.dumps(line).encode()[:-1] + b', "html_base64": "')
                self._file.writelines(_base64(chain([html], failed.rest)))
                self._file.write(b'"}\n')
            else:
                self._file.write(json.dumps(line).encode() + b"\n")

    def __exit__(self, *_: object) -> None:
        with self._reporting_write_errors(), self._file:
            atomic = wait_for_file(self.path, WAIT_SECONDS)
            try:
                self._write_lines(atomic)
                if atomic.path.stat().st_size:
                    atomic.commit()
                else:
                    self.path.unlink(missing_ok=True)
            finally:
                atomic.discard()

    def _write_lines(self, atomic: AtomicFile) -> None:
        """Write the lines of this run, and the lines of earlier runs that are still true."""
        outdated = set() if self.incomplete else self._sources
        with atomic.path.open("wb") as file:
            self._file.seek(0)
            shutil.copyfileobj(self._file, file)
            if self.path.exists():
                with self.path.open("rb") as old:
                    file.writelines(line for line in old if not self._is_outdated(line, outdated))

    def _is_outdated(self, line: bytes, sources: set[str]) -> bool:
        if str(self.path.absolute()) in sources:  # the file was a source itself, so every page in it was tried again
            return True
        try:
            return json.loads(line)["source"] in sources
        except (ValueError, KeyError, TypeError):  # a line that another program wrote
            return False

    @contextmanager
    def _reporting_write_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise FileError(
                f"failed pages cannot be written to {self.path}: {error.strerror}; choose another file (--failed)"
            ) from None


class FailedRows(FailedPages):
    """The failed rows of one run over a data set: the file has no lines of earlier runs.

    Unless the run says that it is complete, the file stays as it was.
    """

    def __exit__(self, *error: object) -> None:
        if self.incomplete:
            self._file.close()
        else:
            super().__exit__(*error)

    def _is_outdated(self, line: bytes, sources: set[str]) -> bool:  # noqa: ARG002 (every line is)
        return True


def _fields(page: Page) -> dict[str, object]:
    fields: dict[str, object] = {"url": page.url}
    if page.fetched_at is not None:
        fields["fetched_at"] = page.fetched_at.isoformat()
    if page.title is not None:
        fields["title"] = page.title
    if page.content_type is not None:
        fields["content_type"] = page.content_type
    if page.codings:
        fields["codings"] = page.codings
    if isinstance(page.html, str):
        fields["html"] = page.html
    elif page.html is None and page.text is not None:
        fields["text"] = page.text
    return fields


def _base64(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the base64 of all pieces together, which may be too large for the memory."""
    left = b""
    for piece in pieces:
        left += piece
        whole = len(left) - len(left) % 3
        yield b64encode(left[:whole])
        left = left[whole:]
    yield b64encode(left)
