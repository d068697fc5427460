"""Pages and texts that people labelled: main texts, states of a web application, and answers copied from sources."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from statistics import median

import pytest

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from tests.quality.corpora import Unpacked, answers, articles, check_digest, digest, records, web_app_states
from tests.quality.measured import (
    MIN_RESEMBLANCE,
    REUSE_CLASSES,
    SHORT_TEXT_SCHEME,
    best_threshold,
    containment_in_source,
    count_outcomes,
    near_duplicates,
    quality_by_labels,
    roc_auc,
)

pytestmark = pytest.mark.check
ARTICLES, STATES = "91e657f300f6861f6b11d718980a379a", "859e4b0a96e8067232a72f66fc26a7e3"
ANSWERS = "aa3bbff5c6d12661eb9c8a44cfe4fba5"
# Extractors leave out different blocks: for one page, only 12 % of the main text is in ours. At .5, the default for a
# text, eight more pages are not found.
MIN_CONTAINMENT = 0.1
# The other four: two main texts are written by a script, one is only in a meta tag, and one has 64 letters, in pieces.
FIRST = 523 / 527


def test_the_page_of_a_main_text_comes_first(unpacked: Unpacked, fill_index: Callable[..., Index]) -> None:
    """Among 531, by the main text as another extractor took it from the HTML."""
    labelled = list(articles(unpacked))
    pages = [article.page for article in labelled]
    check_digest(digest(records(pages), (article.main_text for article in labelled)), ARTICLES)
    outcomes = count_outcomes(fill_index("articles", pages), labelled, MIN_CONTAINMENT)
    assert outcomes["no main text"] == 4  # the label is empty, so there is no question
    assert outcomes["not searchable"] == 0
    assert outcomes["first"] / (outcomes.total() - 4) >= FIRST, outcomes


# People labelled two of 149 states as the same page by function, whatever data they show. Pages with the same function
# share a template and differ in their data. They have about 30 words and seldom share ten in a row. At a resemblance of
# .1, such short pages seldom share a token of the default scheme.
@pytest.mark.parametrize(
    ("name", "scheme", "best_f1", "f1"), [("default", Scheme(), 0.48, 0.11), ("short", SHORT_TEXT_SCHEME, 0.82, 0.7)]
)
def test_f1(
    unpacked: Unpacked, fill_index: Callable[..., Index], name: str, scheme: Scheme, best_f1: float, f1: float
) -> None:
    pages, labels = web_app_states(unpacked)
    check_digest(digest(records(pages), (f"{a} {b} {same}" for (a, b), same in labels.items())), STATES)
    index = fill_index(f"states-{name}", pages, scheme)
    found = near_duplicates(index, [page.url for page in pages], MIN_RESEMBLANCE)
    _, best = best_threshold(found, labels, MIN_RESEMBLANCE)
    assert best.f1 >= best_f1
    assert quality_by_labels(found, labels, 0.5).f1 >= f1


@pytest.mark.parametrize(("name", "scheme", "floor"), [("default", Scheme(), 0.83), ("short", SHORT_TEXT_SCHEME, 0.96)])
def test_the_classes_separate(
    unpacked: Unpacked, fill_index: Callable[..., Index], name: str, scheme: Scheme, floor: float
) -> None:
    """The containment of each of 95 short answers in its source separates copied, reworded and independent answers."""
    written = list(answers(unpacked))
    sources = list({answer.source.url: answer.source for answer in written}.values())
    check_digest(digest(records(sources), (f"{answer.reuse} {answer.text}" for answer in written)), ANSWERS)
    index = fill_index(f"sources-{name}", sources, scheme)
    scores = defaultdict(list)
    for answer in written:
        scores[answer.reuse].append(containment_in_source(index, answer))
    medians = [median(scores[reuse]) for reuse in REUSE_CLASSES]
    assert sorted(medians, reverse=True) == medians
    assert len(set(medians)) == (3 if scheme == Scheme() else 4)  # by default, no ten words in a row in the last two
    assert roc_auc(scores["cut"] + scores["light"] + scores["heavy"], scores["non"]) >= floor
