"""The base class of what writes the records of an indexing run: to a store, or to record files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from opensearch_winnow.ingest.runs.pages_before_run import PagesBeforeRun
from opensearch_winnow.mappings.record import Record

BLOCKED = "blocked"  # the reason why a page that somebody had deleted for good is left out


class RecordWriter(AbstractContextManager["RecordWriter"], ABC):
    """Writes the records of one run. Use it as a context manager."""

    @abstractmethod
    def pages_before_run(self, folder: Path) -> PagesBeforeRun:
        """Return the pages that were stored before the run. Temporary files may be made in `folder`."""

    @abstractmethod
    def add(self, record: Record, on_refused: Callable[[str], None]) -> None:
        """Write `record`, now or with a later batch. It replaces an older record with its id.

        If the destination refuses it, now or later, `on_refused` is called with the reason.
        """

    @abstractmethod
    def close(self) -> None:
        """Write everything that was added. Closing again does nothing."""

    @abstractmethod
    def example_url(self) -> str | None:
        """Return the URL of a page that is stored, or None if there is none."""

    def blocks(self, url: str) -> bool:  # noqa: ARG002
        """Return whether pages of this URL are not to be written, because somebody had them deleted for good."""
        return False

    def flush(self) -> None:
        """Write the records added so far, if the destination can hold part of a run."""

    def note_left_out(self, left_out: Mapping[str, Counter[str]]) -> None:
        """Keep how many records of archives, by path, were not indexed, by reason. These archives were read whole."""

    def unfilled_revisits(self) -> int:
        """Return how many revisits were added that have no text, because the page that they repeat is not stored."""
        return 0
