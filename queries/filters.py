"""Which pages a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters:
    """All must hold. A capture whose time is not known is in no period."""

    site: str | None = None  # the host, in lower case
    crawl: str | None = None
    since: datetime | None = None
    until: datetime | None = None  # before it
    latest: bool = False  # of the captures of a URL the last one only
