"""What every store can do."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self, runtime_checkable

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record, Stored, capture_id
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.lookups import Field, Lookup
from opensearch_winnow.queries.results import FacetName
from opensearch_winnow.queries.words import Words


class StoreError(WinnowError):
    """A store that cannot be opened, read or written."""


class Written(NamedTuple):
    """What has become of a record."""

    id: str
    outcome: Literal["added", "replaced", "failed"]
    reason: str = ""  # of a failure


class Candidate(NamedTuple):
    """A page that has some of the tokens that were asked for."""

    card: Card
    shared: int  # different ones


class Hit(NamedTuple):
    """A page that has the words."""

    card: Card
    score: float  # higher is better; comparable within one search only
    snippet: str  # of its text, around the words
    marks: list[tuple[int, int]]  # where the words are: (start, end) in the snippet
    title_marks: list[tuple[int, int]]  # and in the title


class Hits(NamedTuple):
    total: int  # pages, exactly
    hits: list[Hit]


class Ranked(NamedTuple):
    """A page that has the words, and what groups are made of: all but title and text."""

    url: str
    site: str
    crawl: str
    fetched_at: datetime | None
    score: float
    cluster: str
    shingle_count: int
    minhash: bytes
    place: int  # by which its view finds it again

    @property
    def id(self) -> str:
        """Of the capture. One that somebody else has written may have another."""
        return capture_id(self.url, self.fetched_at)


class Facet(NamedTuple):
    """How many pages have one value of a field: a site, a crawl, a month or a year."""

    value: str  # empty: unknown
    pages: int
    clusters: int = 0  # that they are of, about; counted on request


class View(Protocol):
    """The pages that have the words, as they are at one time, in their order: the best first, of equals the newest,
    then the one with the shortest URL, then by URL. Used as a context, unless it is kept."""

    @property
    def key(self) -> str:
        """By which the store finds it again, if it is kept; else empty."""

    @property
    def total(self) -> int:
        """Pages, exactly."""

    def ranked(self, start: int, end: int) -> Sequence[Ranked]:
        """The pages from one place in the order to another; fewer past the end."""

    def clustered(self, start: int, end: int) -> Sequence[Ranked]:
        """The first page of each cluster, from one place in their order to another. A page without one is alone."""

    def of_clusters(self, clusters: Collection[str]) -> Sequence[Ranked]:
        """All pages of these clusters, in their order."""

    def cluster_count(self) -> tuple[int, bool]:
        """How many there are, and whether that is exact."""

    def read(self, pages: Sequence[Ranked]) -> Sequence[tuple[Card, str] | None]:
        """Cards and texts of some of the pages; None for one that has gone meanwhile."""

    def sketches(self, pages: Sequence[Ranked]) -> Sequence[array[int]]: ...

    def facets(self, name: FacetName, *, limit: int, clusters: bool = False) -> list[Facet]:
        """How many of the pages have each value of a field: most pages first, then by value."""

    def close(self) -> None:
        """Again does nothing."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...


class ClusterSize(NamedTuple):
    """A cluster, and how much is in it."""

    cluster: str  # its id, that of its representative's capture
    pages: int
    sites: int


class Statistics(NamedTuple):
    pages: int
    urls: int
    sites: int
    # For each field how many tokens there are on so many pages: {pages: tokens}.
    frequencies: dict[Field, dict[int, int]]
    sizes: dict[str, int]  # bytes, by what takes them; their sum is what the store takes


@runtime_checkable
class RemoteStore(Protocol):
    """A store that several threads may use at once, and that is too large to be looked through before each run."""

    def known(self, records: Sequence[Record], *, before: int) -> Iterator[tuple[int, Stored]]:
        """What was first written before this time (nanoseconds since 1970), and is the capture of one of these records
        or has the shingles of one: with its place among all, which tells in which order they were first written."""


class Store(Protocol):
    """Used as a context. Every method may raise a StoreError; what was written before is then still there."""

    @property
    def name(self) -> str:
        """As its user names it: a path, or a URL."""

    @property
    def scheme(self) -> Scheme: ...

    def write(self, records: Sequence[Record]) -> list[Written]:
        """Keep records, each in the place of an older one with its id: one outcome each, in their order.

        When it returns, what was written stays, whatever happens to the process.
        """

    def get(self, ids: Iterable[str]) -> dict[str, Record]:
        """By id; those that are not there are left out."""

    def captures(self, url: str, *, limit: int | None = None) -> list[Card]:
        """Of this URL, the latest first; one without a time last."""

    def with_payload(self, digest: str) -> str | None:
        """The id of the first page that came with this payload digest, and has a text."""

    def capture(self, url: str, until: datetime | None = None) -> Record | None:
        """The latest capture of this URL; or the last one whose time is known and not after `until`."""

    def overlaps(self, lookups: Sequence[Lookup], where: Filters = Filters()) -> list[list[Candidate]]:
        """For each lookup the pages that have at least its minimum of its tokens: most shared first, then by id."""

    def rare_overlaps(
        self, lookups: Sequence[Lookup], where: Filters = Filters(), *, over: int, checked: Collection[Field]
    ) -> list[list[Candidate]] | None:
        """As `overlaps`, if it takes no more than that to see that no token of the fields that are checked is on more
        than so many pages. Else None: then `frequent` tells."""

    def frequent(self, lookups: Sequence[Lookup], *, over: int) -> list[dict[int, int]]:
        """For each lookup those of its tokens that are on more than so many pages, and on how many."""

    def minhashes(self, ids: Sequence[str]) -> list[bytes]:
        """Of these pages, in their order; empty for one that has none or is not there."""

    def sketches(self, ids: Sequence[str]) -> list[array[int]]: ...

    def texts(self, ids: Sequence[str]) -> list[str]: ...

    def search(self, words: Words, where: Filters = Filters(latest=True), *, limit: int = 10, offset: int = 0) -> Hits:
        """The pages that have the words in title or text, in the order of a view, with snippets."""

    def view(self, words: Words, where: Filters = Filters(latest=True), *, kept: bool = False, key: str = "") -> View:
        """The pages that have the words, to be looked at in parts.

        One that is kept stays as it is, whatever is written, until nobody has asked it for some minutes. With its key
        it is found again, for the same words; a StoreError if it has ended.
        """

    def scan(self, where: Filters = Filters()) -> Iterator[Record]:
        """All records, in the order in which they were first written. They may be written to meanwhile."""

    def cards(self, where: Filters = Filters()) -> Iterator[Card]:
        """As scan, without texts and hashes."""

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        """Give pages, by id, their clusters: how many there were."""

    def clusters(self, *, least: int = 2, limit: int, offset: int = 0) -> list[ClusterSize]:
        """The clusters of so many pages at least: the largest first, then by id."""

    def cluster_members(self, cluster: str, *, limit: int, offset: int = 0) -> list[Card]:
        """The pages of a cluster, in the order of time (unknown last), then the shortest URL, then by URL."""

    def delete(self, ids: Iterable[str]) -> int:
        """How many there were."""

    def count(self, where: Filters = Filters()) -> int: ...

    def statistics(self) -> Statistics: ...

    def setting(self, name: str) -> Any:
        """A JSON value that goes with the store and is not a page; None if there is none of this name."""

    def settings(self, beginning: str = "") -> dict[str, Any]:
        """All of them, by their names, which begin so."""

    def set_setting(self, name: str, value: Any) -> None:
        """None takes it out."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
