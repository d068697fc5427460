"""Writes failed pages to a file that is itself a source, to index them again when the cause is fixed."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.split import Failed
from opensearch_winnow.record_files.atomic_file import AtomicFile


class FailedPages:
    """A file of JSON lines, one for each failed page. Use it as a context manager; the file changes on exit.

    Lines of earlier runs are kept, except for sources that this run has read to their end: pages that still fail there
    have a new line. If there is no line to write, the file is removed.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.incomplete = True  # until the caller says that the sources were read to their end
        self._sources: set[str] = set()
        with self._reporting_write_errors():
            self._atomic = AtomicFile(path)
            self._file = self._atomic.path.open("wb")

    def __enter__(self) -> Self:
        return self

    def reading(self, source: str) -> None:
        """Note that this run reads `source`."""
        self._sources.add(source)

    def add(self, failed: Failed, source: str) -> None:
        line = {**_fields(failed.page), "reason": failed.reason, "source": source}
        with self._reporting_write_errors():
            self._file.write(json.dumps(line).encode() + b"\n")

    def __exit__(self, *_: object) -> None:
        try:
            with self._reporting_write_errors():
                self._keep_old_lines()
                self._file.close()
                if self._atomic.path.stat().st_size:
                    self._atomic.place()
                else:
                    self.path.unlink(missing_ok=True)
        finally:
            self._file.close()
            self._atomic.discard()

    def _keep_old_lines(self) -> None:
        outdated = set() if self.incomplete else self._sources
        if self.path.exists():
            with self.path.open("rb") as old:
                for line in old:
                    if not self._is_outdated(line, outdated):
                        self._file.write(line)

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
            raise WinnowError(
                f"failed pages cannot be written to {self.path}: {error.strerror}; choose another file (--failed)"
            ) from None


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
    if isinstance(page.html, bytes):
        fields["html_base64"] = b64encode(page.html).decode()
    elif page.html is not None:
        fields["html"] = page.html
    elif page.text is not None:
        fields["text"] = page.text
    return fields
