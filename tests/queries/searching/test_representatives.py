from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import combinations
from random import Random

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.estimates import minhash_resemblance
from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.sketches import mod_sketch
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparer, Side, side
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.searching.representatives import GroupingBatch, Join, Representatives, Similarity
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Boilerplate, Exclusions

SCHEME = Scheme()
LENGTH = 200  # words of an article
ARTICLES = 3
ABSENT = Exclusions([Boilerplate("absent", "words that no page has")])

# An article, and which places of it are written anew, with what length, by whom: a page.
edits = st.lists(st.tuples(st.integers(0, LENGTH), st.integers(1, 70), st.integers(0, 3)), max_size=3)
written = st.lists(st.tuples(st.integers(0, ARTICLES - 1), edits), max_size=12)
thresholds = st.one_of(st.sampled_from([1e-9, 0.03, 0.5, 1.0]), st.floats(0.1, 1))


def words(name: object, count: int) -> list[str]:
    random = Random(str(name))
    return ["".join(random.choices("abcdefghij", k=5)) for _ in range(count)]


def text(article: int, changes: Sequence[tuple[int, int, int]] = ()) -> str:
    page = words(article, LENGTH)
    for start, length, author in changes:
        page[start : start + length] = words((author, start), length)
    return " ".join(page)


@dataclass
class Pages:
    """Texts in their order, their sketches, and the pairs that were compared exactly."""

    texts: list[str]
    sites: list[str] = field(default_factory=list)
    exclusions: Exclusions = NO_EXCLUSIONS
    scheme: Scheme = SCHEME
    lost: set[int] = field(default_factory=set)  # places whose texts are missing
    calls: list[list[tuple[int, int]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        sites: Sequence[str | None] = self.sites or [None] * len(self.texts)
        both = zip(self.texts, sites, strict=True)
        self.sides: list[Side] = [side(text, self.scheme, site=site) for text, site in both]

    @property
    def sketched(self) -> list[Sketches]:
        scheme = self.scheme
        made = ((each.shingles, pack(minhash(each.shingles, scheme.bins), scheme.bits)) for each in self.sides)
        return [Sketches(len(every), mod_sketch(every, scheme.modulus), packed) for every, packed in made]

    def exact(self, a: int, b: int) -> float:
        return Comparer(self.scheme, self.exclusions).scores(self.sides[a], self.sides[b]).resemblance

    def compare(self, pairs: Sequence[tuple[int, int]]) -> list[float | None]:
        self.calls.append(list(pairs))
        return [None if self.lost & {a, b} else self.exact(a, b) for a, b in pairs]

    def joins(self, threshold: float, cuts: Sequence[int] = ()) -> list[Join | None]:
        """Group the pages in one batch, or in several that are cut at these places."""
        self.calls.clear()
        representatives = Representatives(self.scheme, threshold, self.exclusions)
        pages, found = self.sketched, list[Join | None]()
        for start, end in zip([0, *cuts], [*cuts, len(pages)], strict=True):
            found += self.group(representatives, pages[start:end], self.sites[start:end])
        return found

    def group(
        self, representatives: Representatives, pages: Sequence[Sketches], sites: Sequence[str] = ()
    ) -> list[Join | None]:
        return representatives.commit(self.decide(representatives.begin(pages, sites)))

    def decide(self, batch: GroupingBatch) -> GroupingBatch:
        possible: list[tuple[int, set[int]]] = []  # how many representatives, and where they may be
        while pairs := batch.undecided:
            assert {page for pair in pairs for page in pair} <= set(batch.possible_representatives(len(self.texts)))
            possible += [(count, set(batch.possible_representatives(count))) for count in range(1, 5)]
            batch.settle(self.compare(pairs))
        found = batch.possible_representatives(len(self.texts))
        assert all(set(found[:count]) <= places for count, places in possible)
        return batch

    def by_brute_force(self, threshold: float) -> list[int | None]:
        found: list[int | None] = []
        for page in range(len(self.texts)):
            earlier = (each for each in range(page) if found[each] is None)
            found.append(next((each for each in earlier if self.exact(each, page) >= threshold), None))
        return found


def places(joined: Sequence[Join | None]) -> list[int | None]:
    return [each and each.representative for each in joined]


def of_written(pages: list[tuple[int, list[tuple[int, int, int]]]]) -> Pages:
    return Pages([text(article, changes) for article, changes in pages])


# --- which pages are in a group ---------------------------------------------------------------------------------------


@given(written.map(of_written), thresholds)
@example(of_written([]), 0.5)
@example(of_written([(0, [])]), 0.5)
@example(of_written([(0, [])] * 9), 0.5)
@example(of_written([(0, []), (0, [(0, 1, 0)]), (0, [])]), 1.0)
def test_as_by_brute_force(pages: Pages, threshold: float) -> None:
    joined = pages.joins(threshold)
    assert places(joined) == pages.by_brute_force(threshold)
    for page, each in enumerate(joined):
        if each is not None:
            exact = pages.exact(each.representative, page)
            assert exact >= threshold
            assert abs(each.similarity.resemblance - exact) <= 5 * each.similarity.error
    representatives = [page for page, each in enumerate(joined) if each is None]
    assert all(pages.exact(a, b) < threshold for a, b in combinations(representatives, 2))


@given(written.map(of_written), thresholds, st.lists(st.integers(0, 12), max_size=4).map(sorted))
def test_portions_make_no_difference(pages: Pages, threshold: float, cuts: list[int]) -> None:
    cuts = [min(cut, len(pages.texts)) for cut in cuts]
    assert pages.joins(threshold, cuts) == pages.joins(threshold)


def test_neither_a_chain_nor_the_representative_that_is_most_alike() -> None:
    every = words("all", 400)
    pages = Pages([" ".join(every[start : start + 240]) for start in (0, 60, 120)])  # the first and the last differ
    assert pages.exact(0, 1) > 0.5 < pages.exact(1, 2)
    assert places(pages.joins(0.5)) == [None, 0, None]
    pages = Pages([" ".join(every[start : start + 240]) for start in (0, 120, 62)])
    assert 0.5 < pages.exact(0, 2) < pages.exact(1, 2)
    assert places(pages.joins(0.5)) == [None, None, 0]


def test_pages_without_a_signature_are_alone() -> None:
    pages = Pages(["", "…", text(0), "", text(0)])
    assert not pages.sketched[0].shingle_count
    assert places(pages.joins(0.5)) == [None, None, None, None, 2]
    page = pages.sketched[2]
    for unsigned in (b"", bytes(7)):  # missing, or of another scheme
        representatives = Representatives(SCHEME, 0.5)
        foreign = page._replace(minhash=unsigned)
        assert places(pages.group(representatives, [foreign, page, page])) == [None, None, 1]
        assert places(pages.group(representatives, [foreign, page])) == [None, 1]


@pytest.mark.parametrize("threshold", [0.5, 1.0])
@pytest.mark.parametrize("exclusions", [NO_EXCLUSIONS, ABSENT])
def test_a_page_with_no_more_words_than_a_shingle_is_alone(exclusions: Exclusions, threshold: float) -> None:
    few, more = "ten words are one shingle and say too little alone", "an eleventh word is enough"
    pages = Pages([few, few, f"{few} {more}", few.upper(), f"{few}: {more}"], exclusions=exclusions)
    assert places(pages.joins(threshold)) == [None, None, None, None, 2]


@pytest.mark.parametrize("threshold", [0, -1, 1.01, float("nan")])
def test_a_threshold_that_is_no_share(threshold: float) -> None:
    with pytest.raises(QuestionError, match=f"above 0 and at most 1, not {threshold:g}"):
        Representatives(SCHEME, threshold)


# --- what decides -----------------------------------------------------------------------------------------------------


def alike(count: int, shared: int, own: int) -> Pages:
    """Any two resemble each other by shared / (shared + 2 own), but for the few shingles across the border."""
    return Pages([" ".join(words("shared", shared + 9) + words(page, own)) for page in range(count)])


def test_clear_estimates_are_not_verified_unless_nothing_less_will_do() -> None:
    pages = Pages([text(0), text(1), text(0, [(0, 9, 1)]), text(1)])
    assert places(pages.joins(0.5)) == [None, None, 0, 1]
    assert not pages.calls
    joined = pages.joins(0.5)[2]
    assert joined is not None
    estimate = minhash_resemblance(pages.sketched[0].minhash, pages.sketched[2].minhash)
    assert joined.similarity == Similarity(*estimate)
    pages = Pages([text(0)] * 3 + [text(0, [(0, 1, 0)])])
    assert pages.joins(1.0) == [None, Join(0, Similarity(1, 0)), Join(0, Similarity(1, 0)), None]


def test_near_the_threshold_the_texts_decide() -> None:
    pages = alike(2, shared=100, own=50)
    exact = pages.exact(0, 1)
    assert pages.joins(exact) == [None, Join(0, Similarity(exact, 0.0))]
    assert pages.joins(exact + 1e-9) == [None, None]
    assert pages.calls == [[(0, 1)]]


@pytest.mark.parametrize("exclusions", [NO_EXCLUSIONS, ABSENT])
def test_without_the_text_the_estimate_decides(exclusions: Exclusions) -> None:
    pages = alike(2, shared=1000, own=500)
    pages.exclusions, pages.lost = exclusions, {0}
    (_, joined) = pages.joins(0.4)
    assert joined is not None
    resemblance, error = joined.similarity
    assert error > 0
    assert places(pages.joins(resemblance)) == [None, 0]
    assert places(pages.joins(resemblance + 1e-9)) == [None, None]
    assert pages.calls == [[(0, 1)]]


@pytest.mark.parametrize("threshold", [0.49, 0.51])
@pytest.mark.parametrize("exclusions", [NO_EXCLUSIONS, ABSENT])
def test_a_page_waits_for_the_one_that_it_resembles(exclusions: Exclusions, threshold: float) -> None:
    """The second is near the threshold of the first; the third resembles the second, and clearly not the first."""
    first, own = words("first", 3_000), words("own", 1_600)
    second = first[:2_000] + own[:1_000]
    texts = [" ".join(page) for page in (first, second, second[600:] + own[1_000:])]
    pages = Pages(texts, exclusions=exclusions, scheme=Scheme(modulus=2))
    expected = [None, 0, None] if threshold < 0.5 else [None, None, 1]
    assert places(pages.joins(threshold)) == expected == pages.by_brute_force(threshold)
    assert pages.calls == [[(0, 1)]]


@pytest.mark.parametrize("exclusions", [NO_EXCLUSIONS, ABSENT])
def test_few_requests_and_no_pair_twice(exclusions: Exclusions) -> None:
    """All pairs are just below the threshold, and none can be left out."""
    pages = alike(40, shared=96, own=50)
    pages.exclusions = exclusions
    assert pages.joins(0.5) == [None] * 40
    assert sorted(pair for call in pages.calls for pair in call) == sorted(combinations(range(40), 2))
    assert len(pages.calls) == 4  # 4, 8, 16 and 32 pairs a page


def test_few_pairs_where_the_first_decides() -> None:
    pages = alike(40, shared=104, own=48)
    assert places(pages.joins(0.5)) == [None] + [0] * 39
    (call,) = pages.calls
    assert len(call) <= 4 * 39


def test_a_batch_leaves_no_trace_until_it_is_decided_and_committed() -> None:
    pages = alike(3, shared=100, own=48)
    representatives = Representatives(SCHEME, 0.5)
    abandoned = representatives.begin(pages.sketched)
    assert abandoned.undecided
    with pytest.raises(ValueError, match="pairs of this batch are undecided"):
        representatives.commit(abandoned)
    assert pages.group(representatives, pages.sketched) == pages.joins(0.5)
    with pytest.raises(ValueError, match="another batch was committed"):
        representatives.commit(pages.decide(abandoned))
    batch = Representatives(SCHEME, 0.5).begin(alike(3, shared=100, own=48).sketched)
    with pytest.raises(ValueError, match="zip"):
        batch.settle([0.5] * (len(batch.undecided) - 1))


# --- boilerplate ------------------------------------------------------------------------------------------------------

LICENCE = " ".join(words("licence", 300))
TEMPLATE = " ".join(words("template", 300))
EXCLUDED = (Boilerplate("licence", LICENCE), Boilerplate("template", TEMPLATE, site="a.example"))


def with_boilerplate(pages: list[tuple[int, list[tuple[int, int, int]]]], modulus: int, random: Random) -> Pages:
    scheme = Scheme(modulus=modulus)
    texts = [f"{random.choice(['', LICENCE, TEMPLATE])} {text(*page)}" for page in pages]
    sites = [random.choice(["a.example", "b.example"]) for _ in pages]
    return Pages(texts, sites, Exclusions(EXCLUDED, scheme), scheme)


some_with_boilerplate = st.builds(
    with_boilerplate, written, st.sampled_from([1, 3, 25]), st.randoms(use_true_random=False)
)


@given(some_with_boilerplate, thresholds, st.lists(st.integers(0, 12), max_size=3).map(sorted))
def test_boilerplate_does_not_count(pages: Pages, threshold: float, cuts: list[int]) -> None:
    joined = pages.joins(threshold)
    assert places(joined) == pages.by_brute_force(threshold)
    pairs = [pair for call in pages.calls for pair in call]
    assert len(pairs) == len(set(pairs))
    assert pages.joins(threshold, [min(cut, len(pages.texts)) for cut in cuts]) == joined


def test_with_without_and_nothing_but_boilerplate() -> None:
    texts = [f"{LICENCE} {text(0)}", f"{LICENCE} {text(1)}", f"{TEMPLATE} {text(2)}", f"{TEMPLATE} {text(3)}"]
    sites = ["a.example"] * 4
    assert places(Pages(texts, sites).joins(0.4)) == [None, 0, None, 2]
    assert places(Pages(texts, sites, Exclusions(EXCLUDED)).joins(0.4)) == [None] * 4
    # The template of a site counts between pages of others.
    assert places(Pages(texts, ["b.example"] * 4, Exclusions(EXCLUDED)).joins(0.4)) == [None, None, None, 2]
    pages = Pages([LICENCE, LICENCE, "", ""], exclusions=Exclusions(EXCLUDED))
    assert pages.joins(0.5) == [None] * 4
    batch = Representatives(SCHEME, 0.5, Exclusions(EXCLUDED)).begin([Sketches(1, array("Q"))] * 2)
    while pairs := batch.undecided:
        batch.settle([None] * len(pairs))
    assert batch.joins == [None, None]  # too short for a sketch, and no text
