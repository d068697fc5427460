"""The contract of a destination: where an indexing run writes its records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from opensearch_winnow.mappings.record import Record, Stored


class Destination(AbstractContextManager["Destination"], Protocol):
    """A store or record files that a run writes to. Used as a context.

    There are three ways to learn what was stored before the run. A destination implements the one that is cheapest for
    it, and answers nothing in the other two.
    """

    @property
    def stored_file(self) -> Path | None:
        """A SQLite file whose table `page` lists what was stored before the run, as `ingest.seen` reads it."""

    def stored(self) -> Iterable[Stored]:
        """List what was stored before the run. Called only if there is no `stored_file`."""

    def look_up(self, records: Sequence[Record], /) -> Iterable[tuple[int, Stored]]:
        """List what was stored before the run and has the id or the shingles of one of `records`.

        Each comes with its number in the order in which all pages were first written.
        """

    def add(self, record: Record, refused: Callable[[str], None], /) -> None:
        """Write `record`, now or with a later batch, in place of an older one with its id.

        If the destination refuses it, now or later, `refused` is called with the reason.
        """

    def flush(self) -> None:
        """Write what was added, as far as the destination can keep part of a run."""

    def close(self) -> None:
        """Write everything that was added. Closing again does nothing."""

    def example_url(self) -> str | None:
        """Return the URL of a page that is stored, or None if there is none."""
