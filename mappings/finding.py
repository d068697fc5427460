"""Defines a finding, a new page that matches a watch, and lists of findings."""

from __future__ import annotations

from dataclasses import KW_ONLY
from datetime import datetime
from typing import Any, Self

from opensearch_winnow.foundation.answers import Answer, Listing, answer, key, listed


@answer
class Finding(Answer):
    """A page that matched a watch when it was indexed."""

    _: KW_ONLY
    at: datetime = key("The time when it was found.")
    watch: str = key("The name of the watch.")
    containment: float = key("The share of the watched text that is in the page.")
    longest: int = key("The characters of the longest shared passage; 0 if the text of the page is not stored.")
    fetched_at: datetime | None = key("The time of the capture; null if it is unknown.")
    url: str = key("The URL of the page.")
    title: str | None = key("The title of the page; null if it has none.")
    id: str = key("The id of the capture.")

    @classmethod
    def from_document(cls, document: dict[str, Any]) -> Self:
        """Return the finding that `to_dict` made `document` from."""
        fetched_at = document["fetched_at"]
        return cls(
            **document
            | {
                "at": datetime.fromisoformat(document["at"]),
                "fetched_at": None if fetched_at is None else datetime.fromisoformat(fetched_at),
            }
        )


@answer
class Findings(Listing[Finding]):
    """The findings of watches, the newest first."""

    total: int = key("The number of findings, including those that are not listed.")
    findings: list[Finding] = listed("The findings, the newest first.")
