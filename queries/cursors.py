"""A search as it was asked, and the cursor: where in it the next page of results starts."""

from __future__ import annotations

import binascii
import json
import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, Self, get_args

from opensearch_winnow.queries.asked import QuestionError
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.results import FacetName, Way
from opensearch_winnow.queries.words import Words

THRESHOLD = 0.5  # of the resemblance to the best page of a group
EXAMINED = 100  # pages that are looked at together
MOST = 10_000  # hits on a page of results
LONGEST = 100_000  # bytes that a cursor may unpack to


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """All that says which results there are."""

    words: str
    any_word: bool = False
    where: Filters = Filters()
    group: bool = False
    threshold: float = THRESHOLD
    by: Way = "signature"
    examine: int = EXAMINED
    exact: bool = False
    limit: int = 10
    facets: tuple[FacetName, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise QuestionError(f"a threshold is above 0 and at most 1, not {self.threshold}")
        if self.by not in get_args(Way):
            raise QuestionError(f"results are grouped by {', '.join(get_args(Way))}, not {self.by!r}")
        if not 1 <= self.limit <= MOST:
            raise QuestionError(f"a page of results has 1 to {MOST:,} hits, not {self.limit}")
        if self.examine < 1:
            raise QuestionError(f"at least 1 hit is examined, not {self.examine}")
        for name in self.facets:
            if name not in get_args(FacetName):
                raise QuestionError(f"there are the facets {', '.join(get_args(FacetName))}, and no {name!r}")

    @property
    def parsed(self) -> Words:
        return Words.of(self.words, any_word=self.any_word)


@dataclass(frozen=True, slots=True)
class Cursor:
    """Of a view that the store keeps under a key."""

    asked: SearchRequest
    key: str
    number: int  # of the page of results that comes next, from 0

    def __str__(self) -> str:
        content = json.dumps([asdict(self.asked), self.key, self.number], default=datetime.isoformat)
        return urlsafe_b64encode(zlib.compress(content.encode(), 9)).decode().rstrip("=")

    @classmethod
    def of(cls, written: str) -> Self:
        """Refused if it is none, whatever somebody has made of it."""
        try:
            unpacked = zlib.decompressobj().decompress(urlsafe_b64decode(written + "=="), LONGEST)
            asked, key, number = json.loads(unpacked)
            if not isinstance(key, str) or type(number) is not int or number < 0:
                raise TypeError
            return cls(_asked(**asked), key, number)
        except (binascii.Error, zlib.error, ValueError, TypeError, AttributeError, QuestionError):
            raise QuestionError("that is no cursor of a search: take it as the results before have it") from None


def _asked(*, where: dict[str, Any], facets: list[FacetName], **others: Any) -> SearchRequest:
    times = {name: where[name] and datetime.fromisoformat(where[name]) for name in ("since", "until")}
    filters = Filters(**{**where, **times})
    texts = (
        isinstance(others["words"], str),
        *(value is None or isinstance(value, str) for value in (filters.site, filters.crawl)),
    )
    if not all(texts):
        raise TypeError
    return SearchRequest(where=filters, facets=tuple(facets), **others)
