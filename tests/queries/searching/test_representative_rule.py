from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from hypothesis import given, strategies as st

from opensearch_winnow.queries.searching.representative_rule import RepresentativeRule

START = datetime(2026, 1, 1, tzinfo=UTC)
URLS = st.sampled_from(["http://a.example/", "http://b.example/", "http://c.example/"])
ELSEWHERE = st.just("http://elsewhere.example/")


class Page(NamedTuple):
    url: str
    canonical: str | None
    fetched_at: datetime | None = None
    shingle_count: int = 0
    site: str = ""


TIMES = st.none() | st.integers(0, 3).map(lambda days: START + timedelta(days))
PAGES = st.lists(st.builds(Page, URLS, st.none() | URLS | ELSEWHERE, TIMES), min_size=1, max_size=9)
CANONICAL, EARLIEST = RepresentativeRule.of("canonical"), RepresentativeRule.of("earliest")


@given(PAGES)
def test_the_page_with_the_most_votes_is_shown_and_of_its_captures_the_earliest(pages: list[Page]) -> None:
    shown = pages[CANONICAL.first(pages)]
    votes = Counter(page.canonical for page in pages)
    assert votes[shown.url] == max(votes[page.url] for page in pages)
    equal = [page for page in pages if votes[page.url] == votes[shown.url]]
    assert shown == equal[EARLIEST.first(equal)]


@given(PAGES, ELSEWHERE)
def test_without_votes_for_a_page_of_the_group_the_earliest_is_shown(pages: list[Page], url: str) -> None:
    for named in (None, url):
        unvoted = [page._replace(canonical=named) for page in pages]
        assert CANONICAL.first(unvoted) == EARLIEST.first(unvoted)


def test_a_page_votes_for_itself_as_for_any_other() -> None:
    a, b, c = (Page(f"http://{name}.example/", None) for name in "abc")
    assert CANONICAL.first([a, b._replace(canonical=b.url), c]) == 1
    assert CANONICAL.first([a._replace(canonical=a.url), b._replace(canonical=c.url), c._replace(canonical=c.url)]) == 2
    assert CANONICAL.first([a, b._replace(canonical="http://c.example"), c]) == 0  # compared exactly
