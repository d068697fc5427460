"""Tests Index on a real store: adding pages, and every kind of question."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from opensearch_winnow import Filters, Index, Page, QuestionError, Scheme, StoreError, compare
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.types import Matches
from tests.refused import refused

WORDS = [f"{a}{b}{c}" for a in ("ka", "to", "mi", "su") for b in ("ra", "lo", "ne") for c in ("da", "ve", "shi", "n")]
JANUARY, MARCH = (datetime(2024, month, 1, tzinfo=UTC) for month in (1, 3))


def prose(seed: object, words: int) -> str:
    random = Random(str(seed))
    return " ".join(random.choice(WORDS) for _ in range(words)).capitalize() + "."


def near(text: str, seed: object, changes: int) -> str:
    """Return the text with some of its words replaced."""
    random = Random(str(seed))
    words = text.split()
    for _ in range(changes):
        words[random.randrange(len(words))] = "changed"
    return " ".join(words)


ARTICLE = prose("article", 300)
A, B = "https://a.example/article", "https://b.example/copy"
C, D = "https://c.example/long", "https://d.example/quote"


@pytest.fixture
def index(tmp_path: Path) -> Iterator[Index]:
    pages = [
        Page(A, html=f"<title>Original</title><p>{ARTICLE}</p>", fetched_at=JANUARY),
        Page(B, text=near(ARTICLE, 1, 5), fetched_at=MARCH),
        Page(C, text=f"{prose('before', 900)} {ARTICLE} {prose('after', 900)}"),
        Page(D, text=f"{prose('d', 200)} {ARTICLE[400:900]} {prose('e', 200)}"),
        Page("https://e.example/other", text=prose("other", 300)),
    ]
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add(pages, crawl="first")
        yield index


def urls(matches: Matches) -> list[str]:
    return [match.url for match in matches]


def test_a_match_is_not_lost_because_its_sketch_is_small(tmp_path: Path) -> None:
    """By bad luck, the sketches of the two pages have no shingle in common: they have only seven in total."""
    source = Random(968)
    words = [f"w{source.randrange(10**6)}" for _ in range(129)]
    other = [*words[:84], *(f"x{source.randrange(10**6)}" for _ in range(6))]
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add([Page(A, text=" ".join(words)), Page(B, text=" ".join(other))])
        sketches = [set(record.hashes.sketch) for record in index.store.scan(Record)]
        assert (len(set.union(*sketches)), set.intersection(*sketches)) == (7, set())
        (match,) = index.similar(url=A)
        assert match.resemblance > 0.59


def test_a_match_is_not_lost_to_the_rounding_of_a_threshold(tmp_path: Path) -> None:
    """In floating point, .55 * 100 is more than 55."""
    words = [f"word{number}" for number in range(109)]  # 100 shingles
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add([Page(A, text=" ".join(words)), Page(B, text=" ".join(words[:64]))])
        (match,) = index.similar(url=A, min_resemblance=0.55)
        assert match.resemblance == 0.55


def test_near_duplicates_of_a_page(index: Index) -> None:
    (match,) = index.similar(url=A)
    assert (match.url, match.title) == (match.card.url, match.card.title) == (B, None)
    truth = compare(index.page(A).text, index.page(B).text, index.scheme)
    assert (match.kind, match.error, match.passages) == ("exact", 0, truth.passages)
    scores = attrgetter("resemblance", "containment", "contained")
    assert scores(match) == scores(truth)
    (estimate,) = index.similar(url=A, exact=False)
    assert (estimate.kind, estimate.passages) == ("estimate", [])
    assert 0 < estimate.error < 0.05
    assert abs(estimate.resemblance - truth.resemblance) < 4 * estimate.error


def test_a_pasted_text_matches_pages_that_contain_half_of_it(index: Index) -> None:
    assert urls(index.similar(text=ARTICLE)) == urls(index.similar(html=f"<nav>x</nav><p>{ARTICLE}")) == [A, C, B]
    limited = index.similar(text=ARTICLE, limit=1)
    assert (len(limited), limited.total) == (1, 3)


def test_containment_both_ways(index: Index) -> None:
    assert urls(index.similar(url=A, min_containment=0.95)) == [C]
    contained = index.similar(url=C, min_contained=0.9)
    assert (urls(contained), contained.score, contained[0].contained) == ([A], "contained", 1)
    assert urls(index.similar(url=A, min_containment=0.2, min_contained=0.5)) == [B]


def test_every_page_that_shares_a_passage(index: Index) -> None:
    matches = index.similar(url=A, min_containment=0)
    assert urls(matches) == [C, B, D]
    ((start, end, other_start, other_end),) = matches[2].passages
    assert index.page(A).text[start:end] == index.page(D).text[other_start:other_end]
    assert end - start >= 480


def test_filters(index: Index) -> None:
    february = datetime(2024, 2, 1, tzinfo=UTC)
    filters = {Filters(site="b.example"): [B], Filters(since=february): [B], Filters(until=MARCH): [A]}
    for where, found in (filters | {Filters(crawl="second"): []}).items():
        assert urls(index.similar(text=ARTICLE, where=where)) == found


def test_the_best_capture_of_a_url_is_shown(index: Index) -> None:
    url, here = "https://f.example/", Filters(site="f.example")
    captures = [near(ARTICLE, 7, 3), near(ARTICLE, 8, 6), prose("gone", 200)]
    january, february, march = (datetime(2024, month, 1, tzinfo=UTC) for month in (1, 2, 3))
    index.add(
        Page(url, text=text, fetched_at=at) for at, text in zip((january, february, march), captures, strict=True)
    )
    best = index.similar(text=ARTICLE, where=here)
    assert [(match.url, match.card.fetched_at) for match in best] == [(url, JANUARY)]
    assert len(index.similar(text=ARTICLE, where=here, all_captures=True)) == 2
    # The latest capture is the question; earlier captures of the same URL are not matches.
    assert urls(index.similar(url=url, min_containment=0)) == []
    own = index.similar(url=url, at=february, where=here, all_captures=True)
    assert [match.card.fetched_at for match in own] == [JANUARY]


def test_copies_of_a_page_do_not_hide_it(tmp_path: Path) -> None:
    """A text on many pages makes its fingerprints frequent; they are ignored, but not all of them."""
    with Index.open(tmp_path / "copies.winnow") as index:
        text = prose("copied", 400)
        page = Page("https://victim.example/", text=text)
        spam = (Page(f"https://spam.example/{i}", text=f"{text} {prose(i, 30)}") for i in range(60))
        index.add([page, *spam])
        for question in (text, f"{prose('unique', 400)} {text} {prose('more', 400)}"):
            matches = index.similar(text=question, min_containment=0, frequent=10, limit=None)
            assert matches.total == 61
            assert "https://victim.example/" in {match.url for match in matches}
            assert 0 < matches.ignored < matches.tokens
        near_duplicates = index.similar(url="https://spam.example/7", frequent=10)
        assert near_duplicates.total == 60


@pytest.mark.parametrize("exact", [True, False])
def test_candidates_that_time_did_not_suffice_for_are_counted(index: Index, exact: bool) -> None:
    whole = index.similar(text=ARTICLE, min_containment=0, exact=exact, max_seconds=60)
    assert (whole.unscored, whole.total) == (0, index.similar(text=ARTICLE, min_containment=0, exact=exact).total)
    late = index.similar(text=ARTICLE, min_containment=0, exact=exact, max_seconds=0)
    assert (late.unscored, late.total) == (whole.candidates, 0)


def test_a_larger_guarantee_looks_up_a_subset(index: Index) -> None:
    quick = index.similar(url=A, min_containment=0, guarantee=800)
    whole = index.similar(url=A, min_containment=0)
    assert 0 < quick.tokens < whole.tokens / 3
    assert {C} <= set(urls(quick)) <= set(urls(whole))  # C has a run of more than 800 characters
    refused(QuestionError, "guarantees to find runs of 149 or more", index.similar, url=A, guarantee=100)


def test_a_short_quotation_is_looked_up_by_every_kgram(index: Index) -> None:
    """With fewer characters than the guarantee, the page need not have selected the same k-gram as the question."""
    article = index.page(A).text
    quotations = [article[start : start + 140] for start in range(0, 1500, 50)]
    assert max(len(canonical(each, index.scheme).chars) for each in quotations) < index.scheme.t
    answers = [index.similar(text=each, min_containment=0) for each in quotations]
    found = sum(any(match.url == A and match.passages for match in matches) for matches in answers)
    assert found >= 25  # of 30; with one fingerprint each, about half would be found


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_every_shared_run_of_the_guarantee_is_found(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    scheme = Scheme(noise=8, guarantee=15, shingle=3)
    texts = data.draw(st.lists(st.text("ab c", min_size=20, max_size=120), min_size=2, max_size=8))
    question = data.draw(st.text("ab c", min_size=20, max_size=120))
    if len(canonical(question, scheme).chars) < scheme.k:
        return
    with Index.open(tmp_path_factory.mktemp("law") / "law.winnow", scheme=scheme) as index:
        index.add(Page(f"https://x.example/{number}", text=text) for number, text in enumerate(texts))
        found = urls(index.similar(text=question, min_containment=0, limit=None))
    for number, text in enumerate(texts):
        runs = compare(question, text, scheme).passages
        if any(len(canonical(question[run.start : run.end], scheme).chars) >= scheme.t for run in runs):
            assert f"https://x.example/{number}" in found
        if not runs and len(canonical(question, scheme).chars) >= scheme.t:
            assert f"https://x.example/{number}" not in found


def test_registered_boilerplate_is_ignored_and_shown(index: Index) -> None:
    licence, g, h = prose("licence", 200), "https://g.example/", "https://h.example/"
    index.add([Page(g, text=f"{prose('g', 150)}\n{licence}"), Page(h, text=f"{prose('h', 150)}\n{licence}")])
    assert urls(index.similar(url=g, min_containment=0.4)) == [h]
    index.add_boilerplate("licence", licence)
    assert urls(index.similar(url=g, min_containment=0.4)) == []
    assert urls(index.similar(url=g, min_containment=0.4, boilerplate=False)) == [h]
    comparison = index.compare(g, h)
    assert comparison.passages == []
    (run,) = comparison.boilerplate
    assert licence[:50] in index.page(g).text[run.start : run.end]
    assert [each.name for each in index.boilerplate()] == ["licence"]
    index.remove_boilerplate("licence")
    assert urls(index.similar(url=g, min_containment=0.4)) == [h]


def test_a_page_is_found_through_its_boilerplate(index: Index) -> None:
    """What is left of both pages without boilerplate is compared, and is equal."""
    licence = prose("licence", 900)
    index.add_boilerplate("licence", licence)
    index.add([Page("https://g.example/", text=f"{ARTICLE} {licence}")])
    best = index.similar(url=A)[0]
    assert best.url == "https://g.example/"
    assert best.resemblance == pytest.approx(1, abs=0.1)
    assert index.similar(url=A, exact=False)[0].resemblance > 0.8


def test_a_template_is_learned_and_cannot_be_poisoned(index: Index) -> None:
    menu, site, thief = prose("menu", 60), "https://site.example/3", "https://thief.example/3"
    index.add(Page(f"https://site.example/{i}", text=f"{menu}\n{prose(i, 50)}") for i in range(12))
    index.add(Page(f"https://thief.example/{i}", text=f"{ARTICLE}\n{prose(-i - 1, 400)}") for i in range(12))
    assert len(index.similar(url=site, min_containment=0.3)) == 11
    learned = {each.site: each.text for each in index.learn_boilerplate()}
    assert set(learned) == {"site.example", "thief.example"}
    assert learned["site.example"] in menu
    assert len(index.similar(url=site, min_containment=0.3)) == 0
    # The thief's template is the stolen article: it does not count between its own pages, but the victim finds all.
    found = urls(index.similar(url=A, min_containment=0.9))
    assert len([url for url in found if url.startswith("https://thief")]) == 12
    assert A in urls(index.similar(url=thief, min_contained=0.9))
    index.learn_boilerplate("site.example", min_share=1)
    assert {each.site for each in index.boilerplate()} == {"site.example", "thief.example"}


def test_texts_that_are_not_stored_are_estimated(tmp_path: Path) -> None:
    with Index.open(tmp_path / "without.winnow") as bare:
        bare.add([])
        keep = bare.store.settings.with_prefix()["recipe"] | {"text": False}
        bare.store.settings.set({"recipe": keep})
        bare.add([Page(A, text=ARTICLE), Page(B, text=near(ARTICLE, 1, 5))])
        assert bare.page(A).text == ""
        for question in ({"url": A}, {"text": ARTICLE}):
            matches = bare.similar(**question, min_resemblance=0.5)  # type: ignore[call-overload]
            assert {match.kind for match in matches} == {"estimate"}
            assert B in urls(matches)
        refused(QuestionError, "does not have the text", bare.compare, A, B)
        bare.add([Page(C, revisit_of="https://gone.example/")])
        refused(QuestionError, f"{C} has no text: it is a revisit, .* is not stored", bare.compare, C, A)


def test_search(index: Index) -> None:
    word = prose("other", 300).split()[5]
    results = index.search(f"original {word}")
    assert results.total == len(results.hits) <= 1
    (hit,) = index.search("original").hits
    assert (hit.url, hit.title) == (hit.card.url, hit.card.title) == (A, "Original")
    assert index.search('"no such phrase"').total == 0
    everything = index.search(WORDS[0], limit=2)
    assert (len(everything.hits), everything.total) == (2, 5)
    assert len(index.search(WORDS[0], limit=2, page=3).hits) == 1


def test_the_latest_captures_are_searched(index: Index) -> None:
    for month, word in enumerate(("early", "late"), 1):
        page = Page("https://f.example/", text=f"{word} bird", fetched_at=datetime(2024, month, 1, tzinfo=UTC))
        index.add([page], crawl=word)
    assert index.search("bird").total == 1
    assert index.search("early").total == 0
    assert index.search("bird", where=Filters(site="f.example")).total == 1
    assert index.search("bird", all_captures=True).total == 2
    # The latest capture would hide the earlier one.
    assert index.search("bird", where=Filters(crawl="early")).total == 1
    assert index.search("early", where=Filters(until=datetime(2024, 1, 15, tzinfo=UTC))).total == 1


@pytest.mark.parametrize(
    ("question", "complaint"),
    [
        ({"url": "https://a.example/none"}, "has no page https://a.example/none"),
        ({"url": "http://a.example/article"}, f"there is {A}"),
        ({"url": f"{A}/"}, f"there is {A}"),
        ({"url": A, "at": datetime(2023, 1, 1, tzinfo=UTC)}, "no capture of .* until 2023"),
        ({"text": ""}, "no text"),
        ({"text": "  …  "}, "it has 0 letters and digits"),
        ({"html": "<p>"}, "no text"),
        ({}, "one of url, id, text or html; given: none"),
        ({"text": "x", "url": "y"}, "given: url and text"),
        ({"url": A, "min_resemblance": 1.5}, "from 0 to 1, not 1.5"),
    ],
)
def test_questions_that_cannot_be_answered(index: Index, question: dict[str, object], complaint: str) -> None:
    before = index.store.count()
    refused(QuestionError, complaint, index.similar, **question)
    assert index.store.count() == before


def test_reading_creates_no_store(tmp_path: Path) -> None:
    path = tmp_path / "none.winnow"
    with Index.open(path) as index:
        refused(StoreError, "there is no store", index.similar, text=prose(1, 50))
    refused(StoreError, "there is no store", Index.open, path, create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_store_has_one_scheme_and_a_keyed_one_needs_its_key(tmp_path: Path) -> None:
    passages, page = Scheme.preset("passages"), Page(A, text=ARTICLE)
    with Index.open(tmp_path / "p.winnow", scheme=passages) as index:
        index.add([page])
    with Index.open(tmp_path / "p.winnow") as index:
        assert index.scheme == passages
    refused(StoreError, "scheme", Index.open, tmp_path / "p.winnow", scheme=Scheme())
    with Index.open(tmp_path / "k.winnow", scheme=Scheme(key="secret")) as index:
        index.add([page])
    with Index.open(tmp_path / "k.winnow", key="secret") as index:
        assert urls(index.similar(text=ARTICLE)) == [A]
    for key in (None, "other"):
        refused(StoreError, "key", Index.open, tmp_path / "k.winnow", key=key)
