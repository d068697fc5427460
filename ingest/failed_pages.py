"""The pages that failed, kept in a file that is itself a source: to be fed in again when the cause is mended."""

from __future__ import annotations

import json
from base64 import b64encode
from pathlib import Path
from typing import IO, Self

from opensearch_winnow.errors import WinnowError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.split import Failed


class FailedPages:
    """A file of JSON lines, one for each page that failed. Used as a context: the file changes only as it is left.

    Lines that it had are kept, but for those of sources that were read again to their end: what still fails there has a
    new one. No file is left where there is nothing to keep.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.incomplete = True  # until somebody says that the sources were read to their end
        self._draft = path.with_name(f".{path.name}.part")
        self._file: IO[bytes] | None = None
        self._sources: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def reading(self, source: str) -> None:
        """Say that a source is read in this run."""
        self._sources.add(source)

    def add(self, failed: Failed, source: str) -> None:
        line = {**_fields(failed.page), "reason": failed.reason, "source": source}
        try:
            if self._file is None:
                self._file = self._draft.open("w+b")
            self._file.write(json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise self._refused(error) from None

    def __exit__(self, *_: object) -> None:
        outdated = set() if self.incomplete else self._sources
        try:
            if self.path.exists() and (self._file or outdated):
                self._file = self._file or self._draft.open("w+b")
                with self.path.open("rb") as old:
                    for line in old:
                        if not self._is_outdated(line, outdated):
                            self._file.write(line)
            if self._file is not None:
                with self._file as draft:
                    empty = not draft.tell()
                if empty:
                    self._draft.unlink()
                    self.path.unlink(missing_ok=True)
                else:
                    self._draft.replace(self.path)
        except OSError as error:
            raise self._refused(error) from None

    def _is_outdated(self, line: bytes, sources: set[str]) -> bool:
        if str(self.path.absolute()) in sources:  # a source itself, so that every page in it was tried again
            return True
        try:
            return json.loads(line)["source"] in sources
        except (ValueError, KeyError, TypeError):  # a line of somebody else
            return False

    def _refused(self, error: OSError) -> WinnowError:
        return WinnowError(
            f"failed pages cannot be kept in {self.path}: {error.strerror}; choose another place with --failed"
        )


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
