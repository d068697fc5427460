"""The winnowing guarantee on real pages: a pasted passage of t characters is always found, one below k never."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain, cycle, islice
from random import Random
from typing import NamedTuple

import pytest

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.queries.scores import Passage
from tests.public_pages import HUTOOL, LUCENE, NABLARCH, javadoc, licences
from tests.quality.corpora import Unpacked, html_pages, manuals, records

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("passages")]

SCHEME = Scheme()
LENGTHS = (SCHEME.t, SCHEME.t + 1, 2 * SCHEME.t, 500, 2_000)
FOREIGN = "𐌰𐌱𐌲𐌳𐌴𐌵𐌶𐌷𐌸𐌹𐌺𐌻𐌼𐌽𐌾"  # letters that no page has, so that no shared run is longer by chance


class Pasted(NamedTuple):
    """A passage that was pasted into a page and into a question, with its offset in each."""

    page: Page
    at: int
    question: str
    question_at: int
    passage: str

    def is_in(self, found: Passage) -> bool:
        """Return whether `found` covers the pasted passage on both sides."""
        end, other_end = (at + len(self.passage) for at in (self.question_at, self.at))
        ours = found.start <= self.question_at and end <= found.end
        return ours and found.other_start <= self.at and other_end <= found.other_end


class Texts(NamedTuple):
    """The pages from which the test makes its store and questions."""

    hosts: Iterable[Page]  # a passage is pasted into each of these
    donors: Iterable[Page]  # the passages come from these
    around: Iterable[Page]  # text before and after a passage in a question
    others: Iterable[Page]  # stored as well, unchanged
    number: int  # how many hosts to use


@pytest.fixture(params=["public", pytest.param("further", marks=pytest.mark.check)])
def texts(request: pytest.FixtureRequest) -> Texts:
    if request.param == "public":
        return Texts(
            hosts=javadoc(LUCENE[0]),
            donors=chain(javadoc(*HUTOOL), javadoc(*NABLARCH)),
            around=licences(),
            # A limit, because tokens on more than a thousand pages are not looked up, and all pages share a template.
            others=islice(javadoc(LUCENE[1]), 600),
            number=150,
        )
    unpacked: Unpacked = request.getfixturevalue("unpacked")
    return Texts(
        hosts=html_pages(unpacked("trafilatura-eval"), "https://host.example"),
        donors=html_pages(unpacked("wcxb-dev350"), "https://web.example"),
        around=html_pages(unpacked("spdx-license-pages"), "https://spdx.example"),
        others=islice(manuals(unpacked), 1_000),
        number=300,
    )


@pytest.fixture
def pasted(texts: Texts, request: pytest.FixtureRequest, once: Callable[..., list[Pasted]]) -> list[Pasted]:
    return once(f"pasted {request.node.callspec.params['texts']}", lambda: list(pasted_pages(texts)))


def pasted_pages(texts: Texts) -> Iterator[Pasted]:
    """Yield real pages with a foreign passage in the middle, each with a question that contains the passage."""
    hosts, donors, around = (records(each) for each in (texts.hosts, texts.donors, texts.around))
    source = Random(5)
    passages = pieces(source, [record.text for record in donors])
    for host, other in zip(source.sample(hosts, texts.number), cycle(record.text for record in around), strict=False):
        passage, middle, cut = next(passages), len(host.text) // 2, source.randrange(200, 800)
        page = Page(host.url, text=f"{host.text[:middle]}\n{passage}\n{host.text[middle:]}")
        before = other[:cut]
        yield Pasted(page, middle + 1, f"{before} {passage} {other[cut : 2 * cut]}", len(before) + 1, passage)


def pieces(source: Random, texts: list[str]) -> Iterator[str]:
    """Yield random parts of `texts` whose canonical lengths cycle through LENGTHS."""
    for length in cycle(LENGTHS):
        canon = canonical(source.choice([text for text in texts if len(text) > 4 * length]), SCHEME)
        start = source.randrange(len(canon.chars) - length)
        begin, end = canon.span(start, start + length)
        yield canon.text[begin:end]


@pytest.fixture
def index(
    pasted: list[Pasted],
    texts: Texts,
    request: pytest.FixtureRequest,
    once: Callable[..., Index],
    fill_index: Callable[..., Index],
) -> Index:
    name = f"store of {request.node.callspec.params['texts']}"

    def make() -> Index:
        others = list(texts.others)
        return fill_index(name, [*others[::2], *(each.page for each in pasted), *others[1::2]])

    return once(name, make)


def test_a_pasted_passage_is_found_with_its_place_in_both_texts(
    index: Index, pasted: list[Pasted], texts: Texts
) -> None:
    assert len(pasted) == texts.number
    missed = []
    for each in pasted:
        run = canonical(each.passage, SCHEME).chars
        assert len(run) >= SCHEME.t
        matches = index.similar(text=each.question, min_containment=0, limit=None)
        found = [passage for match in matches if match.url == each.page.url for passage in match.passages]
        whole = [passage for passage in found if each.is_in(passage)]
        if not whole:
            missed.append((each.page.url, len(run), found))
        for passage in found:
            theirs = index.page(each.page.url).text[passage.other_start : passage.other_end]
            shared = canonical(each.question[passage.start : passage.end], SCHEME).chars
            assert shared == canonical(theirs, SCHEME).chars
            assert len(shared) >= SCHEME.k
    assert missed == []


@pytest.mark.parametrize(("length", "found"), [(SCHEME.k - 1, False), (SCHEME.t, True)])
def test_a_run_between_foreign_letters_is_found_from_t_characters_and_never_below_k(
    index: Index, pasted: list[Pasted], length: int, found: bool
) -> None:
    source = Random(6)
    for each in pasted:
        canon = canonical(index.page(each.page.url).text, SCHEME)
        start = source.randrange(len(canon.chars) - length)
        begin, end = canon.span(start, start + length)
        question = f"{FOREIGN * 10} {canon.text[begin:end]} {FOREIGN * 10}"
        urls = [match.url for match in index.similar(text=question, min_containment=0, limit=None)]
        assert (each.page.url in urls) == found
        assert found or urls == []
