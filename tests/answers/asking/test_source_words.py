"""Sentences about the sources of a text."""

from __future__ import annotations

import pytest

from opensearch_winnow.answers.asking.source_words import found_sentence, page_sentence, quotes_summary
from opensearch_winnow.operations.asking.sources import TextSource, TextSources
from opensearch_winnow.queries.asking.matches import Matches
from tests.sample_matches import sample_matches


def matches(total: int, min_score: float = 0.0) -> Matches:
    return sample_matches(total=total, score="containment", min_score=min_score)


def found(*shares: float, grey: float = 0.0, original: float | None = None) -> TextSources:
    sources = [TextSource(number, 0, [], [], [(0, 1)], share) for number, share in enumerate(shares, 1)]
    return TextSources(sources, [(0, 1)] if grey else [], grey, original, [])


TWO, PARTS, HARDLY_ANY = (
    found(0.5, 0.27, original=0.23),
    found(0.9, grey=0.1, original=0),
    found(0.001, original=0.999),
)


@pytest.mark.parametrize(
    ("total", "sources", "summary", "rest"),
    [
        (65, TWO, "23 % of your text is original", "77 % is on other pages: 2 sources, 65 pages"),
        (1, HARDLY_ANY, "Over 99 % of your text is original", "Under 1 % is on other pages: 1 source, 1 page"),
        (3, found(1.0, original=0), "All of your text is on other pages", "1 source, 3 pages"),
        (
            3,
            PARTS,
            "None of your text is original",
            "90 % is on other pages, 10 % is boilerplate: 1 source, 3 pages",
        ),
        (3, found(grey=0.1, original=0.9), "No page quotes this text, apart from boilerplate", ""),
        (3, found(original=None), "3 pages quote this text", ""),
        (0, found(original=1), "No page quotes this text", ""),
    ],
)
def test_a_pasted_text(total: int, sources: TextSources, summary: str, rest: str) -> None:
    assert quotes_summary(matches(total), sources) == summary
    assert found_sentence(matches(total), sources) == rest
    assert quotes_summary(matches(0, 0.9), found(original=1)) == "No page contains that much of this text"


@pytest.mark.parametrize(
    ("sources", "sentence"),
    [
        (
            found(0.4, 0.1, 0.01, grey=0.11, original=0.38),
            "38 % of this page is only here; 51 % is also on 3 other pages; 11 % is boilerplate",
        ),
        (found(1.0, original=0), "All of this page is also on 1 other page"),
        (PARTS, "90 % of this page is also on 1 other page; 10 % is boilerplate"),
        (HARDLY_ANY, "Over 99 % of this page is only here; under 1 % is also on 1 other page"),
        (found(original=1), "None of this text is on the pages listed"),
        (found(original=None), ""),
    ],
)
def test_a_page(sources: TextSources, sentence: str) -> None:
    assert page_sentence(sources) == sentence
