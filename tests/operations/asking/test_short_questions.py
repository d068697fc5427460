"""Tests that a question shorter than the guarantee is answered as a comparison with every page answers it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from opensearch_winnow import Index, Page, Scheme, compare
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.queries.asking.short_phrases import has_run_of_words, short_phrases
from tests.operations.sets.test_pairs import write

pytestmark = pytest.mark.check_on_engine
# Few words, so that short runs of them are on several pages.
LEXICON = ["a", "of", "mill", "sack", "weigh", "nobody", "valley", "été", "grain", "understanding", "42", "is"]
CLOSE = Scheme(noise=12, guarantee=30)  # the same questions are short in both schemes


def text(seed: int, words: int) -> str:
    return " ".join(Random(seed).choices(LEXICON, k=words))


TEXTS = {f"https://a.org/{i}": text(i, 3 + 7 * i) for i in range(30)}
TEXTS |= {f"https://b.org/{i}": text(100 + i, i + 1) for i in range(8)}


@pytest.fixture(scope="module", params=[Scheme(), CLOSE, Scheme(selection="mod-p")], ids=["pages", "close", "mod-p"])
def index(request: pytest.FixtureRequest, new_name: Callable[[], str]) -> Iterator[Index]:
    with Index.open(new_name(), scheme=request.param) as opened:
        opened.add(Page(url, text=each) for url, each in TEXTS.items())
        yield opened


LONGER = text(7, 40)


def brute_force(question: str, scheme: Scheme, min_containment: float) -> dict[str, float]:
    """Return the containment of each match, by a comparison with every page."""
    ours = canonical(question, scheme)
    below_noise = len(ours.chars) < scheme.k
    closest = Scheme(noise=scheme.noise, guarantee=scheme.noise)  # finds every shared run of k characters
    matches = {}
    for url, other in TEXTS.items():
        is_in = has_run_of_words(ours, canonical(other, scheme))
        both = compare(question, other, scheme)
        all_there = is_in and len(ours.words) < scheme.shingle and not below_noise
        containment = 1.0 if all_there else both.containment
        if below_noise and both.resemblance < 0.5:
            continue  # by chance, any page may have so little
        shared = below_noise or bool(compare(question, other, closest).passages)
        if containment >= min_containment and (shared or min_containment):
            matches[url] = containment
    return matches


@st.composite
def questions(draw: st.DrawFn) -> str:
    """Draw a part of a page, or words in another order, of 1 to about 150 characters."""
    words = draw(st.sampled_from(list(TEXTS.values()))).split()
    start = draw(st.integers(0, len(words) - 1))
    part = words[start : start + draw(st.integers(1, 40))]
    if draw(st.booleans()):
        part.insert(draw(st.integers(0, len(part))), draw(st.sampled_from([*LEXICON, "unknown"])))
    return " ".join(part)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(questions(), st.sampled_from([0, 0.3, 0.5, 1]))
def test_short_questions_are_answered_exactly(index: Index, question: str, min_containment: float) -> None:
    if len(canonical(question, index.scheme).chars) >= index.scheme.t:
        return
    found = index.similar(text=question, min_containment=min_containment, limit=None)
    expected = brute_force(question, index.scheme, min_containment)
    assert found.too_short == (len(canonical(question, index.scheme).chars) < index.scheme.k)
    if found.below_guarantee:  # where a run of k characters need not contain a whole word
        assert short_phrases(canonical(question, index.scheme), index.scheme) is None
        assert {match.url: match.containment for match in found}.items() <= expected.items()
    else:
        assert {match.url: match.containment for match in found} == expected
    if not min_containment:
        assert all(match.passages for match in found) or found.too_short


def test_a_stored_page_of_any_length_is_found(index: Index) -> None:
    for url, stored in TEXTS.items():
        (best, *_) = index.similar(text=stored.upper(), min_resemblance=1)
        assert best.resemblance == 1
        assert url in {match.url for match in index.similar(text=stored, min_containment=1, limit=None)}


@pytest.mark.parametrize("question", ["cat sat", "猫坐在那里", "a b c d e f g h i j k l"])
@pytest.mark.parametrize("min_containment", [0, 0.5, 1])
def test_a_few_words_of_a_page_are_no_copy(file_index: Index, question: str, min_containment: float) -> None:
    file_index.add([Page("https://a.org/1", text=f"{question} {LONGER}"), Page("https://a.org/2", text=question)])
    found = file_index.similar(text=question, min_containment=min_containment)
    assert found.too_short
    assert [match.url for match in found] == ["https://a.org/2"]  # all of it is the question
    assert not file_index.similar(url="https://a.org/2", min_containment=min_containment).matches
    assert not file_index.similar(text=LONGER).too_short


@pytest.mark.parametrize(
    ("scheme", "options", "question"),
    [
        (Scheme(), {"text": False}, {}),
        (Scheme(), {}, {"exact": False}),
        (Scheme(form="consonants"), {}, {}),
        (Scheme(fold_confusables=True), {}, {}),
    ],
    ids=["no texts", "estimates", "consonants", "confusables"],
)
def test_an_answer_below_the_guarantee_says_so(
    tmp_path: Path, scheme: Scheme, options: dict[str, Any], question: dict[str, Any]
) -> None:
    copy, longer = "Nobody has seen him weigh a sack", text(5, 80)
    write(tmp_path / "pages", copy_txt=copy, longer_txt=longer)
    with Index.open(tmp_path / "crawl.winnow", scheme=scheme) as index:
        index.index(str(tmp_path / "pages"), **options)
        found = index.similar(text=copy, min_resemblance=0.9, **question)
        assert found.below_guarantee
        assert [match.url.rpartition("/")[2] for match in found] == ["copy.txt"]
        assert not index.similar(text=longer, **question).below_guarantee
