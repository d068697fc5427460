"""What every store can do."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from types import TracebackType
from typing import Any, Literal, NamedTuple, Protocol, Self, runtime_checkable

from opensearch_winnow.errors import WinnowError
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record, Stored
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.lookups import Field, Lookup
from opensearch_winnow.queries.words import Words
from opensearch_winnow.scheme import Scheme


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


class Hits(NamedTuple):
    total: int  # pages, exactly
    hits: list[Hit]


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

    def captures(self, url: str) -> list[Card]:
        """All of this URL, the latest first; those without a time last."""

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
        """The pages that have the words in title or text: the best first, then by id."""

    def scan(self, where: Filters = Filters()) -> Iterator[Record]:
        """All records, in the order in which they were first written. They may be written to meanwhile."""

    def cards(self, where: Filters = Filters()) -> Iterator[Card]:
        """As scan, without texts and hashes."""

    def set_clusters(self, clusters: Mapping[str, str]) -> int:
        """Give pages, by id, their clusters: how many there were."""

    def delete(self, ids: Iterable[str]) -> int:
        """How many there were."""

    def count(self, where: Filters = Filters()) -> int: ...

    def statistics(self) -> Statistics: ...

    def settings(self) -> dict[str, Any]:
        """JSON values by their names: what goes with the store and is not a page."""

    def set_setting(self, name: str, value: Any) -> None:
        """None takes it out."""

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None: ...
