"""Real pages as samples of larger collections: their tokens, and the pages that have each of them."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property, lru_cache
from itertools import groupby
from math import ceil, floor
from random import Random
from typing import NamedTuple

from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.lookups import Field, Lookup, lookups
from opensearch_winnow.queries.asking.question import Question
from opensearch_winnow.queries.asking.thresholds import Thresholds
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS
from opensearch_winnow.stores.store import Sizes
from tests.quality.corpora import html_pages, records

WEB = ("article-extraction-benchmark", "trafilatura-eval", "wcxb-dev350")
SETS = {
    "the Web, one page of each site": WEB,
    "one site with a template": ("spdx-license-pages",),
    "a manual in three versions": ("postgresql-doc-13-15-17",),
}
KINDS = {
    "near-duplicates": Thresholds.of("resemblance", {"resemblance": 0.5}),
    "any passage": Thresholds.of("containment", {"containment": 0.0}),
}
OWN_ADDRESS = re.compile(rb"<(?:link|meta)\b[^>]*(?:canonical|og:url)[^>]*>", re.IGNORECASE)
HOST = re.compile(rb"https?://(?:www\.)?([^/\"'>\s]+)")


class Sample:
    """Pages in random order, and which of them have each token."""

    def __init__(self, pages: Sequence[Record]) -> None:
        self.pages = pages

    def __len__(self) -> int:
        return len(self.pages)

    def part(self, share: float) -> Sample:
        return Sample(self.pages[: max(int(len(self) * share), 2)])

    def of_source(self, name: str) -> Sample:
        """Return the pages with this name in their address."""
        return Sample([page for page in self.pages if name in page.url])

    def shuffled(self, seed: int) -> Sample:
        return Sample(Random(seed).sample(self.pages, len(self)))

    @cached_property
    def postings(self) -> dict[Field, dict[int, list[int]]]:
        """The numbers of the pages that have each token, by field."""
        found: dict[Field, dict[int, list[int]]] = {}
        fields: tuple[Field, ...] = ("fingerprints", "sketch", "bands")
        for field in fields:
            numbers: defaultdict[int, list[int]] = defaultdict(list)
            for number, page in enumerate(self.pages):
                for token in set(getattr(page.hashes, field)):
                    numbers[token].append(number)
            found[field] = numbers
        return found

    def frequencies(self, field: Field) -> Counter[int]:
        """Map a number of pages to how many tokens are on that many."""
        return Counter(map(len, self.postings[field].values()))

    @cached_property
    def run_lengths(self) -> dict[Field, list[int]]:
        """The numbers of tokens that a page shares with the same others: in a row, or in any order in a sketch."""
        lengths: dict[Field, list[int]] = {"fingerprints": [], "sketch": []}
        for page in self.pages:
            for field, found in lengths.items():
                holders = [self.postings[field][token] for token in dict.fromkeys(getattr(page.hashes, field))]
                if field == "sketch":
                    holders.sort()
                found += [len(list(run)) for who, run in groupby(holders) if len(who) > 1]
        return {field: found or [1] for field, found in lengths.items()}


class SampledQuestion(NamedTuple):
    """A page of a sample as a question: what is looked up, and the other pages that have each token."""

    lookups: list[Lookup]
    holders: list[dict[int, list[int]]]  # for each lookup
    plausible: set[int] | None  # pages of a size that can match; None: all


@lru_cache(maxsize=8)
def questions(sample: Sample, kind: str, count: int) -> list[SampledQuestion]:
    """Return the first `count` pages of the sample as questions."""
    return list(_questions(sample, kind, count))


def _questions(sample: Sample, kind: str, count: int) -> Iterator[SampledQuestion]:
    thresholds, scheme = KINDS[kind], Scheme()
    minimum = thresholds.minima.get("resemblance", 0.0)
    for number, record in enumerate(sample.pages[:count]):
        wanted = list(lookups(Question.of(record, scheme, NO_EXCLUSIONS), thresholds, boilerplate=False))
        holders = [
            {
                token: [page for page in sample.postings[each.field].get(token, ()) if page != number]
                for token in each.tokens
            }
            for each in wanted
        ]
        plausible = None
        if minimum:
            sizes = Sizes(floor(record.hashes.shingle_count * minimum), ceil(record.hashes.shingle_count / minimum))
            plausible = {n for n, page in enumerate(sample.pages) if sizes.include(page.hashes.shingle_count)}
        yield SampledQuestion(wanted, holders, plausible)


def samples(scale: float) -> Iterator[tuple[str, Sample]]:
    """Yield the sets of real pages, each with its description."""
    with unpacked_data() as unpacked:
        for what, names in SETS.items():
            pages = [page for name in names for page in html_pages(unpacked(name), f"https://{name}.example")]
            if names == WEB:
                pages = list(one_of_each_site(pages))
            made = records(Random(1).sample(pages, max(int(len(pages) * scale), 30)))
            yield what, Sample(made)


def one_of_each_site(pages: Iterable[Page]) -> Iterator[Page]:
    """Yield the first page of each host; a page that does not name its address counts as a site of its own."""
    seen: set[bytes] = set()
    for page in pages:
        assert isinstance(page.html, bytes)
        tags = b" ".join(OWN_ADDRESS.findall(page.html))
        host = found[1].lower() if (found := HOST.search(tags)) else page.url.encode()
        if host not in seen:
            seen.add(host)
            yield page
