"""Defines the filters that limit a question or a search to some pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """Conditions on captures; all must hold. A capture of unknown time is in no period."""

    site: str | None = None  # the host, in lower case
    crawl: str | None = None
    since: datetime | None = None
    until: datetime | None = None  # exclusive
    latest: bool = False  # only the latest capture of each URL
