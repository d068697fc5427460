"""The main text of a page, as another extractor took it from the HTML, finds that page among 531."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from opensearch_winnow.index import Index
from tests.quality.corpora import Article, Unpacked, articles, check_digest, digest, records
from tests.quality.measured import count_outcomes

CORPUS = "91e657f300f6861f6b11d718980a379a"
# Extractors leave out different blocks: for one page, only 12 % of the main text is in ours. At .5, the default for a
# text, eight more pages are not found.
MIN_CONTAINMENT = 0.1
# The other four: two main texts are written by a script, one is only in a meta tag, and one has 64 letters, in pieces.
FIRST = 523 / 527


@pytest.fixture
def labelled(unpacked: Unpacked) -> list[Article]:
    return list(articles(unpacked))


@pytest.mark.check
def test_the_page_of_a_main_text_comes_first(labelled: list[Article], fill_index: Callable[..., Index]) -> None:
    pages = [article.page for article in labelled]
    check_digest(digest(records(pages), (article.main_text for article in labelled)), CORPUS)
    outcomes = count_outcomes(fill_index("articles", pages), labelled, MIN_CONTAINMENT)
    assert outcomes["no main text"] == 4  # the label is empty, so there is no question
    assert outcomes["not searchable"] == 0
    assert outcomes["first"] / (outcomes.total() - 4) >= FIRST, outcomes
