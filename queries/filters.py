"""Defines the filters that limit a question, a search or a scan to some pages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.option_kinds import END_OF_DATE, FLAG, SITE, START_OF_DATE, text
from opensearch_winnow.foundation.options import Options, group, option
from opensearch_winnow.foundation.time_period import EXAMPLES

MAX_URLS = 500  # of one selection; SQLite may be built to take 999 parameters


@dataclass(frozen=True, slots=True, kw_only=True)
class Filters(Options):
    """Conditions that a page has to meet, all of them. A capture whose time is unknown is in no period."""

    site: str | None = option(None, SITE, "Only pages of this site.")  # the host, in lower case
    crawl: str | None = option(None, text("NAME"), "Only pages of this crawl.")
    since: datetime | None = option(None, START_OF_DATE, f"Only captures since DATE: {EXAMPLES}.")  # inclusive
    until: datetime | None = option(None, END_OF_DATE, "Only captures until the end of DATE.")  # exclusive
    latest: bool = False  # only the last capture of each URL


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection(Filters):
    """Filters, and the keys by which the library itself looks up few pages."""

    url: str | None = None
    urls: tuple[str, ...] | None = None  # any of these, up to MAX_URLS
    url_prefix: str | None = None
    url_part: str | None = None  # anywhere in the URL; all URLs are searched
    clusters: tuple[str, ...] | None = None  # their ids
    payload_digests: tuple[str, ...] | None = None  # any of these
    shingle_digests: tuple[str, ...] | None = None  # any of these
    repeats: tuple[str, ...] | None = None  # revisits of any of these: payload digests, and URLs of earlier captures

    @property
    def by_key(self) -> bool:
        """True if a key narrows the selection to few pages."""
        keys = (
            *(self.url, self.urls, self.url_prefix, self.url_part),
            *(self.clusters, self.payload_digests, self.shingle_digests, self.repeats),
        )
        return any(key is not None for key in keys)


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureChoice(Options):
    """The captures that are written to a file: all that meet the filters, or those with these ids, in this order."""

    where: Filters = group(Filters)
    latest: bool = option(False, FLAG, "Only the latest capture of each URL.")
    cluster: str | None = option(None, text("ID"), "Only the captures of this cluster.")
    ids: Sequence[str] | None = None

    def __post_init__(self) -> None:
        super(CaptureChoice, self).__post_init__()
        if self.ids is not None and self.selection != Selection():
            raise QuestionError("ids name the captures: no other option can choose among them")

    @property
    def selection(self) -> Selection:
        """The conditions that the captures have to meet."""
        chosen = replace(self.where.extended(Selection), latest=self.latest or self.where.latest)
        return chosen if self.cluster is None else replace(chosen, clusters=(self.cluster,))

    @property
    def words(self) -> str:
        """Words such as " of crawl x of site y"; nothing if all captures are chosen."""
        named = {"crawl": self.where.crawl, "site": self.where.site, "cluster": self.cluster}
        return "".join(f" of {name} {value}" for name, value in named.items() if value is not None)


def searched(where: Filters, *, all_captures: bool = False) -> Filters:
    """Return the filters of a search: latest captures only, unless all, or those of a crawl or until a time."""
    return where if all_captures or where.crawl or where.until else replace(where, latest=True)
