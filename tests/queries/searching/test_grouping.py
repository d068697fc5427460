"""Groups of the hits of a search, page by page, from a source that has the hits in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.queries.searching import grouping
from opensearch_winnow.queries.searching.grouping import Call, Examined, Grouping, GroupsOfPage, Steps, T
from opensearch_winnow.queries.searching.representatives import GroupingBatch, Join, Representatives, Similarity
from tests.queries.searching.test_representatives import SCHEME, Pages, of_written, written

THRESHOLD = 0.5
sizes = st.integers(1, 5)


class Listed:
    """A source of hits that are there already. It asks once whether it may compare, as a client would."""

    def __init__(self, pages: Pages, copies: Mapping[int, int] = {}) -> None:
        self.wanted: list[int] = []
        self.exhausted = False
        self._pages = pages
        self._sketched = pages.sketched
        self._copies = copies
        self._read = 0

    def read(self, wanted: int) -> Steps[Examined]:
        yield from ()
        self.wanted.append(wanted)
        sketched = self._sketched[self._read : self._read + wanted]
        self._read += len(sketched)
        self.exhausted = len(sketched) < wanted
        return Examined(sketched)

    def compare(self, batch: GroupingBatch, groups: int) -> Steps[Sequence[float | None]]:
        assert (yield Call("compare", {"groups": groups})) == "yes"
        return self._pages.compare(batch.undecided)

    def short_copies(self, ranks: range) -> Steps[Mapping[int, Join]]:
        yield from ()
        return {rank: Join(self._copies[rank], Similarity(1.0, 0.0)) for rank in ranks if rank in self._copies}


def grouping_of(source: Listed, examine: int) -> Grouping:
    return Grouping(source, Representatives(SCHEME, THRESHOLD), examine=examine)


def result_of(steps: Steps[T]) -> T:
    try:
        call = next(steps)
        while True:
            assert call.method == "compare"
            call = steps.send("yes")
    except StopIteration as end:
        result: T = end.value
        return result


def all_pages(pages: Pages, size: int, examine: int) -> list[tuple[GroupsOfPage, int, int]]:
    """Return each page, with the number of groups that were shown and of hits that were examined before it."""
    found = grouping_of(Listed(pages), examine)
    made: list[tuple[GroupsOfPage, int, int]] = []
    shown = 0
    while not made or found.has_more_than(shown):
        before = found.examined
        page = result_of(found.page(shown, size, examined_before=before))
        made.append((page, shown, before))
        shown += len(page.members)
    assert found.count(len(pages.texts)).groups == shown
    return made


@given(written.map(of_written), sizes, sizes)
def test_each_hit_is_on_one_page_once_and_groups_are_within_bounds(pages: Pages, size: int, examine: int) -> None:
    made = [page for page, _, _ in all_pages(pages, size, examine)]
    ranks = [rank for page in made for rank in (*page.members, *chain(*page.members.values()), *page.folded)]
    assert sorted(ranks) == list(range(len(pages.texts)))
    representatives = [rank for rank, joined in enumerate(pages.by_brute_force(THRESHOLD)) if joined is None]
    assert [rank for page in made for rank in page.members] == representatives
    assert all(len(page.members) == size for page in made[:-2])  # the last may be empty: that there is no more was new
    found = grouping_of(Listed(pages), examine)
    result_of(found.page(0, size, examined_before=0))
    count = found.count(len(pages.texts))
    assert count.at_least <= len(representatives) <= (count.at_most or 0)
    assert count.groups in (None, len(representatives))
    assert found.count(None).at_most in (None, len(representatives))


@given(written.map(of_written), sizes, sizes)
def test_a_page_can_be_made_without_those_before_it(pages: Pages, size: int, examine: int) -> None:
    for page, shown, before in all_pages(pages, size, examine):
        again = grouping_of(Listed(pages), max(examine, before))  # as a cursor has it
        assert result_of(again.page(shown, size, examined_before=before)) == page
        found = grouping_of(Listed(pages), examine)  # as `from` and `size` have it
        result_of(found.find_groups(shown, 1_000))
        assert found.exhausted or not shown or found.examined == before
        assert result_of(found.page(shown, size, examined_before=found.examined)) == page or not shown


def test_hits_are_examined_in_batches_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grouping, "MAX_BATCH_SIZE", 8)
    source = Listed(of_written([(0, [])] * 99))
    found = grouping_of(source, 3)
    assert result_of(found.page(0, 2, examined_before=0, max_examined=30)) == GroupsOfPage({0: list(range(1, 30))}, [])
    assert source.wanted == [3, 3, 6, 8, 8, 2]
    assert found.has_more_than(1)
    assert (found.count(99).at_least, found.count(99).at_most) == (1, 70)
    monkeypatch.setattr(grouping, "MAX_EXAMINED_PER_RESULT_PAGE", 9)
    page = result_of(found.page(1, 2, examined_before=found.examined))
    assert (page, found.examined) == (GroupsOfPage({}, list(range(30, 39))), 39)


def test_without_anything_to_decide_by_only_short_copies_join() -> None:
    found = Grouping(Listed(of_written([(0, [])] * 5)), None, examine=2)
    assert result_of(found.page(1, 3, examined_before=0)) == GroupsOfPage({1: [], 2: [], 3: []}, [])
    pages = Pages(["goal", "goal", "gale", "goal"])
    found = grouping_of(Listed(pages, {1: 0, 3: 0}), 4)
    assert result_of(found.page(0, 9, examined_before=0)) == GroupsOfPage({0: [1, 3], 2: []}, [])
