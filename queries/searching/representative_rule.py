"""Chooses the page that is shown for a cluster or a group, by a rule that the user names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from math import inf
from typing import NamedTuple, Protocol, Self

from opensearch_winnow.foundation.errors import QuestionError

CANONICAL = "canonical"
RULES = ("earliest", "newest", "longest", CANONICAL)
SITE = "site:"  # followed by hosts, the most preferred first
CHOICES = f"{', '.join(RULES)} or {SITE}HOST[,HOST…]"
HOST = re.compile(r"[^\s,'\"\\]+")  # nothing that has a meaning in a text of SQL


class Choosable(Protocol):
    """A page that may be chosen: a ranked page of a search."""

    @property
    def url(self) -> str: ...
    @property
    def canonical(self) -> str | None: ...
    @property
    def fetched_at(self) -> datetime | None: ...
    @property
    def shingle_count(self) -> int: ...
    @property
    def site(self) -> str: ...


class RepresentativeRule(NamedTuple):
    """Chooses the page to show: the earliest or newest capture, the one with most shingles, the one that most pages
    name as canonical, or the first of some sites."""

    name: str
    sites: tuple[str, ...] = ()

    @classmethod
    def of(cls, text: str, *others: str) -> Self:
        """Parse a rule: `earliest`, `newest`, `longest`, `canonical`, or `site:` and hosts, separated by commas.

        The error for an unknown rule also lists `others`, rules that the caller applies itself.
        """
        if text in RULES:
            return cls(text)
        hosts = text.removeprefix(SITE).lower().split(",")
        if not text.startswith(SITE) or not all(map(HOST.fullmatch, hosts)):
            raise QuestionError(f"a representative is chosen by {', '.join((*others, CHOICES))}, not {text!r}")
        return cls(SITE, tuple(hosts))

    @property
    def column(self) -> str:
        """The column of a page that decides."""
        return {SITE: "site", "longest": "shingle_count", CANONICAL: CANONICAL}.get(self.name, "fetched_at")

    @property
    def has_votes(self) -> bool:
        """True if `order_by` needs the column `votes`: the number of pages of the cluster that name it as canonical."""
        return self.name == CANONICAL

    @property
    def order_by(self) -> str:
        """The order of the pages of a cluster in SQL, the representative first. `number` is their order of time."""
        if self.name == SITE:
            ranks = " ".join(f"WHEN '{site}' THEN {rank}" for rank, site in enumerate(self.sites))
            return f"CASE site {ranks} ELSE {len(self.sites)} END, number"
        return {
            "earliest": "number",
            "newest": "fetched_at DESC NULLS LAST, number",
            "longest": "shingle_count DESC, number",
            CANONICAL: "coalesce(votes, 0) DESC, number",
        }[self.name]

    def first(self, pages: Sequence[Choosable]) -> int:
        """Return the index of the representative among the pages of a group. Of equals, the first is chosen."""
        votes = Counter(page.canonical for page in pages) if self.has_votes else Counter()
        return min(range(len(pages)), key=lambda index: self._rank(pages[index], votes))

    def _rank(self, page: Choosable, votes: Mapping[str | None, int]) -> tuple[float, float]:
        if self.name == SITE:
            return self.sites.index(page.site) if page.site in self.sites else len(self.sites), 0
        if self.name == "longest":
            return -page.shingle_count, 0
        time = inf if page.fetched_at is None else page.fetched_at.replace(tzinfo=UTC).timestamp()
        if self.name == "newest":
            return inf if page.fetched_at is None else -time, 0
        return -votes.get(page.url, 0), time
