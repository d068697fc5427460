"""The sources of a text: each part of it is counted once, and the shares add up."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.operations.asking.sources import MIN_ADDED_CHARS, TextSources, sources
from opensearch_winnow.queries.asking.matches import Match
from opensearch_winnow.queries.scores import Passage
from tests.answers.asking.test_quoted_runs import CARD

TEXT = "".join(f"word{number:03} " for number in range(100))  # 8 characters each


def match(*spans: tuple[int, int], cluster: str = "", digest: str = "", grey: tuple[int, int] | None = None) -> Match:
    card = CARD._replace(cluster=cluster, text_digest=digest)
    boilerplate = [Passage(*grey, *grey)] if grey else []
    return Match(card, 0.5, 0.5, 0.5, "exact", 0.0, [Passage(*span, *span) for span in spans], boilerplate)


def attributed(text: str, matches: list[Match], *, alike: bool = True) -> TextSources:
    return sources(text, matches, lambda _a, _b: alike)


def pages(found: TextSources) -> list[tuple[int, list[int], list[int]]]:
    return [(each.page, each.versions, each.partial) for each in found.sources]


def test_versions_are_one_source_and_pages_with_the_same_quotation_are_none() -> None:
    same_cluster = attributed(TEXT, [match((0, 400), cluster="x"), match((480, 640), cluster="x")])
    assert pages(same_cluster) == [(0, [1], [])]
    assert same_cluster.sources[0].parts == [(0, 399), (480, 639)]
    assert pages(attributed(TEXT, [match((0, 400), digest="x"), match((480, 640), digest="x")])) == [(0, [1], [])]
    assert pages(attributed(TEXT, [match((0, 400)), match((0, 376))])) == [(0, [1], [])]  # 94 % of both
    assert pages(attributed(TEXT, [match((0, 400)), match((400, 800))])) == [(0, [], []), (1, [], [])]
    quoting = [match((0, 400)), match((0, 376)), match((0, 400))]
    assert pages(attributed(TEXT, quoting, alike=False)) == [(0, [], [1, 2])]
    assert pages(attributed(TEXT, quoting)) == [(0, [1, 2], [])]
    copied = replace(quoting[1], card=CARD._replace(url="http://b.org/"))
    found = sources(TEXT, [quoting[0], copied, quoting[2]], lambda a, b: a.url == b.url)
    assert pages(found) == [(0, [2], [1])]


def test_each_part_belongs_to_the_source_with_most() -> None:
    found = attributed(TEXT, [match((320, 560)), match((0, 400))])
    assert pages(found) == [(1, [], []), (0, [], [])]
    assert [each.parts for each in found.sources] == [[(0, 399)], [(400, 559)]]
    assert [each.share for each in found.sources] == pytest.approx([0.5, 0.2])
    assert found.original == pytest.approx(0.3)
    found = attributed(TEXT, [match((0, 400)), match((160, 416)), match((640, 800))])
    assert pages(found) == [(0, [], [1]), (2, [], [])]
    assert found.sources[0].parts == [(0, 415)]  # the two words more are on a page of this source
    assert found.sources[0].pages == 2


def test_neither_half_words_repeats_gaps_without_words_nor_boilerplate_count() -> None:
    found = attributed(TEXT, [match((3, 405), (3, 405), (100, 200))])
    assert found.sources[0].parts == [(8, 399)]
    text = "one two three. -- four five six"
    found = attributed(text, [match((0, 14), (18, len(text)))])
    assert found.sources[0].parts == [(0, len(text))]
    assert found.original == 0
    found = attributed(TEXT, [match((0, 400), grey=(320, 560))])
    assert found.boilerplate == [(400, 559)]
    assert found.boilerplate_share == pytest.approx(0.2)


def test_matches_without_passages() -> None:
    found = attributed(TEXT, [match(), match(cluster="x")])
    assert (found.original, found.sources, found.unplaced) == (None, [], [0, 1])
    found = attributed(TEXT, [match(), match(cluster="x"), match((0, 80), cluster="x")])
    assert (pages(found), found.unplaced) == ([(2, [1], [])], [0])
    assert attributed(TEXT, []).original == 1


spans = st.tuples(st.integers(0, 300), st.integers(0, 300)).map(lambda pair: (min(pair), max(pair)))
some_matches = st.lists(
    st.builds(
        lambda passages, cluster, digest, grey: match(*passages, cluster=cluster, digest=digest, grey=grey),
        st.lists(spans, max_size=4),
        st.sampled_from(["", "", "x", "y"]),
        st.sampled_from(["", "", "x", "y"]),
        st.none() | spans,
    ),
    max_size=8,
)
some_text = st.text("ab1 .\nß日本ﬁé\u0301", max_size=300) | st.text(max_size=300)


@given(some_text, some_matches)
def test_laws(text: str, matches: list[Match]) -> None:
    found = attributed(text, matches)
    placed = [at for each in found.sources for at in (each.page, *each.versions, *each.partial)]
    assert sorted([*placed, *found.unplaced]) == list(range(len(matches)))
    assert [each.number for each in found.sources] == list(range(1, len(found.sources) + 1))
    parts = sorted([*(span for each in found.sources for span in each.parts), *found.boilerplate])
    assert all(0 <= start < end <= len(text) for start, end in parts)
    assert all(end <= start for (_, end), (start, _) in pairwise(parts))
    if found.original is None:
        assert not parts
    elif canonical_text(text).chars:
        assert found.found + found.original + found.boilerplate_share == pytest.approx(1)
    assert all(each.parts and each.share > 0 for each in found.sources)
    letters = set(canonical_text(text).offsets)
    assert all(sum(start <= at < end for start, end in each.parts for at in letters) for each in found.sources)
    # Every whole word of a passage is in a source.
    found = attributed(TEXT, matches)
    covered = {at for each in found.sources for span in each.parts for at in range(*span)}
    for each_match in matches:
        for start, end, *_ in each_match.passages:
            words = [at for at in range(0, len(TEXT), 8) if start <= at and at + 7 <= end]
            assert {at + letter for at in words for letter in range(7)} <= covered
    added = [sum(end - start for start, end in each.parts) for each in found.sources[1:]]
    assert all(chars >= MIN_ADDED_CHARS for chars in added)
