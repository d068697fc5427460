"""The protocol of a destination: where an indexing run writes its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from opensearch_winnow.mappings.record import Record, StoredDigests

BLOCKED = "blocked"  # the reason why a page that somebody had deleted for good is left out


class Destination(AbstractContextManager["Destination"], Protocol):
    """A store or record files that a run writes to. Use it as a context manager.

    There are three ways to learn what was stored before the run: `stored_file`, `stored` and `look_up`. A destination
    implements the one that is cheapest for it; the other two return nothing.
    """

    @property
    def stored_file(self) -> Path | None:
        """A SQLite file whose table `page` lists what was stored before the run, as `ingest.runs.ledger` reads it."""

    def stored(self) -> Iterable[StoredDigests]:
        """List what was stored before the run. Called only if there is no `stored_file`."""

    def look_up(self, records: Sequence[Record], /) -> Iterable[tuple[int, StoredDigests]]:
        """List the pages stored before the run that have the id or the shingles of one of `records`.

        Each comes with a number that tells the order in which all pages were first written.
        """

    def blocks(self, url: str, /) -> bool:
        """Return whether pages of this URL are not to be written, because somebody had them deleted for good."""

    def add(self, record: Record, on_refused: Callable[[str], None], /) -> None:
        """Write `record`, now or with a later batch. It replaces an older record with its id.

        If the destination refuses it, now or later, `on_refused` is called with the reason.
        """

    def note_left_out(self, left_out: Mapping[str, Counter[str]], /) -> None:
        """Keep how many records of archives, by path, were not indexed, by reason. These archives were read whole."""

    def flush(self) -> None:
        """Write what was added, if the destination can hold part of a run."""

    def close(self) -> None:
        """Write everything that was added. Closing again does nothing."""

    def unfilled_revisits(self) -> int:
        """Return how many revisits were added that have no text, because the page that they repeat is not stored."""

    def example_url(self) -> str | None:
        """Return the URL of a page that is stored, or None if there is none."""
