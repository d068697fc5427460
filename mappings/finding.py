"""Defines a finding: a new page that matches a watch."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Self

from opensearch_winnow.foundation.written_time import written_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A page that matched a watch when it was indexed."""

    at: datetime  # when it was found
    watch: str  # the name of the watch
    id: str  # of the capture
    url: str
    title: str | None
    fetched_at: datetime | None
    containment: float  # the share of the watched text that is in the page
    longest: int  # characters of the longest shared passage; 0 if the text of the page is not stored

    def as_document(self) -> dict[str, Any]:
        """Return its fields as JSON values."""
        return {
            "at": written_time(self.at),
            "watch": self.watch,
            "id": self.id,
            "url": self.url,
            "title": self.title,
            "fetched_at": None if self.fetched_at is None else written_time(self.fetched_at),
            "containment": self.containment,
            "longest": self.longest,
        }

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """Make it from the values that `as_document` returns."""
        fetched_at = document["fetched_at"]
        return cls(
            **document
            | {
                "at": datetime.fromisoformat(document["at"]),
                "fetched_at": None if fetched_at is None else datetime.fromisoformat(fetched_at),
            }
        )
