"""Defines what every store can do: 16 methods, which tests/stores checks on every kind of store."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import datetime
from typing import Any, Literal, NamedTuple, Protocol, TypeVar, runtime_checkable

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import CaptureEntry, Card
from opensearch_winnow.mappings.record import Record, StoredDigests, capture_id
from opensearch_winnow.queries.asking.frequency_check import FrequencyCheck
from opensearch_winnow.queries.asking.lookups import Field, Lookup
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.searching.results import FacetName
from opensearch_winnow.queries.words import Words


class StoreError(WinnowError):
    """A store that cannot be opened, read or written."""


class WriteOutcome(NamedTuple):
    """The outcome of writing one record."""

    id: str
    outcome: Literal["added", "replaced", "blocked", "failed"]  # blocked: the page is on the list of blocked pages
    reason: str = ""  # the reason of a failure


class Text(NamedTuple):
    """The text of a page; empty where it is not stored."""

    text: str


# The fields of a page to read are named by the class that holds them.
Fields = TypeVar("Fields", bound=Record | Card | CaptureEntry | StoredDigests | Sketches | Text)

# By first write; newest capture first; oldest capture first, then by the length of the URL and by URL; or by URL. A
# capture without a time is never the newest, and comes last in both orders of time.
Order = Literal["written", "newest", "oldest", "url"]


class Candidate(NamedTuple):
    """A page that shares tokens with a lookup, with the figures that show whether it may be a match."""

    id: str
    url: str
    site: str
    shingle_count: int
    sketch_count: int
    shared: int  # distinct tokens
    minhash: bytes = b""  # empty if it was not read


class Sizes(NamedTuple):
    """The numbers of shingles that a page may have: from `least` to `most`."""

    least: int
    most: int

    def include(self, shingle_count: int) -> bool:
        return self.least <= shingle_count <= self.most


class LookupsOfQuestion(NamedTuple):
    """The lookups of one of several questions."""

    lookups: Sequence[Lookup]
    sizes: Sizes | None = None  # pages of other sizes may be left out


class CandidatesOfLookup(NamedTuple):
    """The pages that a lookup finds: most shared tokens first, then by id."""

    lookup: Lookup  # without the tokens that the frequency check left out
    pages: list[Candidate]
    others: int = 0  # further pages, which share no more tokens than these; counted only if `lookup.most` is given


class Hit(NamedTuple):
    """A page found by words."""

    card: Card
    score: float  # higher is better; comparable within one search only
    snippet: str  # the part of its text around the words
    marks: list[tuple[int, int]]  # the words in the snippet: (start, end)
    title_marks: list[tuple[int, int]]  # and in the title


class ViewHit(NamedTuple):
    """A hit of a view, with all that grouping needs: no title and no text."""

    url: str
    site: str
    crawl: str
    fetched_at: datetime | None
    score: float
    cluster: str
    shingle_count: int
    minhash: bytes
    view_key: int  # the page's key within its view
    attached_id: str = ""  # the id of a document of an attached index; empty if it is the id of the capture
    canonical: str | None = None

    @property
    def id(self) -> str:
        """The id of the page's record. A document written by another program may have another `_id`."""
        return self.attached_id or capture_id(self.url, self.fetched_at)


class Facet(NamedTuple):
    """A value of a field (a site, a crawl, a month or a year), with its number of pages."""

    value: str  # empty: unknown
    pages: int
    clusters: int = 0  # an estimate of the number of their clusters; counted on request


class View(AbstractContextManager["View"], Protocol):
    """The pages that match a query, frozen at one time: best score first, then newest, then shortest URL, then URL.

    Use it as a context manager, unless the store keeps it open for paging.
    """

    @property
    def key(self) -> str:
        """The key under which the store keeps this view open; empty if it does not."""

    @property
    def total(self) -> int:
        """The exact number of pages."""

    def hits(self, start: int, end: int) -> Sequence[Hit]:
        """Return the pages ranked from `start` up to `end`, with snippets, without those deleted meanwhile."""

    def ranked(self, start: int, end: int) -> Sequence[ViewHit]:
        """Return the pages ranked from `start` up to `end`; fewer past the last one."""

    def clustered(self, start: int, end: int) -> Sequence[ViewHit]:
        """Return the best page of each cluster, from `start` up to `end`. A page without a cluster counts as one."""

    def of_clusters(self, clusters: Collection[str]) -> Sequence[ViewHit]:
        """Return all pages of these clusters, best first."""

    def cluster_count(self) -> tuple[int, bool]:
        """Return the number of clusters, and whether it is exact."""

    def read(self, pages: Sequence[ViewHit]) -> Sequence[tuple[Card, str] | None]:
        """Return the cards and texts of `pages`; None for a page deleted meanwhile."""

    def sketches(self, pages: Sequence[ViewHit]) -> Sequence[array[int]]:
        """Return the sketches of `pages`."""

    def facets(self, names: Sequence[FacetName], *, limit: int, clusters: bool = False) -> dict[FacetName, list[Facet]]:
        """Count the pages for each value of these fields: most pages first, then by value."""

    def close(self) -> None:
        """Release the view. Closing twice does nothing."""


class ClusterSize(NamedTuple):
    """A cluster, with its numbers of pages, URLs and sites."""

    cluster: str  # its id, which is the id of its representative's capture
    pages: int  # captures
    sites: int
    urls: int


class Crawl(NamedTuple):
    """The captures that were indexed under one name."""

    name: str
    captures: int
    first: datetime | None  # the time of its first capture; None if all times are unknown
    last: datetime | None


class Statistics(NamedTuple):
    """The figures of a store, counted."""

    pages: int
    urls: int
    sites: int
    frequencies: dict[Field, dict[int, int]]  # by field: {n: number of tokens on exactly n pages}
    sizes: dict[str, int]  # bytes by use; their sum is the size of the store
    stale: int | None = None  # documents of an attached index that are new or have another text; None for other stores


class Settings(Protocol):
    """JSON values that a store keeps by name."""

    def get(self, name: str) -> Any:
        """Return the value that is kept under `name`; None if there is none."""

    def names(self, prefix: str = "") -> list[str]:
        """Return the names that begin with `prefix`, sorted. This reads no values, which may be large."""

    def with_prefix(self, prefix: str = "") -> dict[str, Any]:
        """Return all values whose names begin with `prefix`, by name."""

    def set(self, values: Mapping[str, Any]) -> None:
        """Keep values by name, with few requests; None removes one."""

    def change(self, name: str, change: Callable[[Any], Any]) -> None:
        """Replace the value under `name` by `change(value)`. Without a value, `change` gets None.

        No other write comes in between. `change` may be called more than once; only its last value is kept.
        """


@runtime_checkable
class RemoteStore(Protocol):
    """A store that threads and processes may use at once, and that is too large to read through before each run."""

    def known(self, records: Sequence[Record], *, before: int) -> Iterator[tuple[int, StoredDigests]]:
        """Find the pages with the id or the shingles of one of `records` that were first written before `before`.

        `before` is in nanoseconds since 1970. Each page comes with its arrival, which tells the order of first writes.
        """

    def clustering(self) -> AbstractContextManager[None]:
        """Keep `winnow detach` from removing clusters while they are made; raises a StoreError if it is running."""


class Store(AbstractContextManager["Store"], Protocol):
    """Keeps records, and finds them by id, by key, by tokens and by words. Use it as a context manager.

    Every method may raise a StoreError; what was written before stays written.
    """

    @property
    def name(self) -> str:
        """The store's path or URL, as its user gave it."""

    @property
    def scheme(self) -> Scheme:
        """The scheme of all records in the store."""

    @property
    def settings(self) -> Settings:
        """The settings that the store keeps besides its records."""

    # --- records ------------------------------------------------------------------------------------------------------

    def write(self, records: Sequence[Record]) -> list[WriteOutcome]:
        """Write records, each replacing the one with its id, and return their outcomes in the same order.

        Written records survive even if the process is killed afterwards. Blocked pages are left out, including pages
        that are blocked meanwhile: see docs/decisions/0024-takedowns.md.
        """

    def delete(self, ids: Iterable[str]) -> int:
        """Delete pages by id and return how many existed. If there were any, `last_deletion` changes."""

    def erase(self) -> None:
        """Erase the remains of deleted pages from the files of the store. May take as long as writing these files."""

    def set_fingerprints(self, records: Sequence[Record]) -> int:
        """Set the fingerprints of pages to those of `records`, and return how many of the pages exist.

        A page that has another text by now keeps its own.
        """

    def set_texts(self, records: Sequence[Record]) -> int:
        """Set title, text, canonical URL and hashes of pages to those of `records`; return how many of them exist.

        A page that has other content by now keeps its own.
        """

    def read(self, ids: Iterable[str], fields: type[Fields]) -> dict[str, Fields]:
        """Read pages by id: whole records (`Record`), or a part of them (`Card`, `CaptureEntry`,
        `StoredDigests`, `Sketches`, `Text`).

        Pages that do not exist are left out.
        """

    def scan(
        self,
        fields: type[Fields],
        where: Filters = Filters(),
        *,
        order: Order = "written",
        limit: int | None = None,
        offset: int = 0,
    ) -> Iterator[Fields]:
        """Read the `fields` of all pages that meet `where`, which may be a `Selection`.

        A scan of a whole store in the order of writing does not see writes that happen meanwhile.
        """

    def count(self, where: Filters = Filters()) -> int:
        """Count the pages that meet `where`."""

    # --- by tokens ----------------------------------------------------------------------------------------------------

    def candidates(
        self, questions: Sequence[LookupsOfQuestion], where: Filters = Filters(), check: FrequencyCheck | None = None
    ) -> list[list[CandidatesOfLookup]]:
        """For each lookup of each question, find the pages that have at least its minimum of its tokens.

        With `check`, frequent tokens are left out of the lookups first. Several questions in one call are faster.
        """

    def frequencies(self, lookups: Sequence[Lookup], *, over: int) -> list[dict[int, int]]:
        """For each lookup, return its tokens that are on more than `over` pages, with the number of those pages."""

    # --- by words -----------------------------------------------------------------------------------------------------

    def view(
        self, words: Words, where: Filters = Filters(latest=True), *, keep_open: bool = False, key: str = ""
    ) -> View:
        """Open a view of the pages with the words in title or text.

        With `keep_open`, the store closes it only after some minutes without use. Until then, `key` returns the same
        view for the same words; afterwards, it raises a StoreError.
        """

    # --- clusters, crawls, statistics ---------------------------------------------------------------------------------

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        """Set the clusters of pages by id, and return how many of the pages exist."""

    def clusters(
        self, *, min_pages: int = 2, site: str | None = None, limit: int, offset: int = 0
    ) -> list[ClusterSize]:
        """List the clusters with at least `min_pages` pages: largest first, then by id.

        With `site`, list only clusters that have a page on it.
        """

    def crawls(self) -> list[Crawl]:
        """List the crawls that have a name, ordered by the time of their last capture. Unknown times come first.

        Among crawls of equal or unknown time, the crawl that was written last comes last.
        """

    def statistics(self) -> Statistics:
        """Count pages, tokens and bytes."""

    def close(self) -> None:
        """Close the store."""
