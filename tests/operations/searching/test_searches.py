"""Grouped search results and paging, on both kinds of store."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.searching.searches import Searches
from opensearch_winnow.queries.compare import compare
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.searching.results import FacetCount, SearchResults
from opensearch_winnow.queries.searching.search_request import Cursor, SearchRequest
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Boilerplate, Exclusions
from opensearch_winnow.stores import view_cache
from opensearch_winnow.stores.store import Store, StoreError
from tests.record_fixtures import record_of

DAY = datetime(2026, 3, 1, tzinfo=UTC)
ALL: dict[str, Any] = {"examine": 10_000, "limit": 1_000}


def text(family: object, *, changed: int = 0, words: int = 100, found: str = "mill") -> str:
    """Return a text of a family, with its last `changed` words replaced: the shingles of ten words there all differ."""
    source = Random(str(family))
    prose = [f"w{source.randrange(10_000)}" for _ in range(words)]
    other = Random(f"{family} {changed}")
    prose[words - changed :] = [f"x{other.randrange(10_000)}" for _ in range(changed)]
    return " ".join([*prose, found])


def record(url: str, content: str, **fields: Any) -> Record:
    return record_of(Page(f"https://{url}", text=content, **fields))


def numbered(contents: Iterable[str]) -> list[Record]:
    return [record(f"a.org/{number}", content) for number, content in enumerate(contents)]


def searches(store: Store, exclusions: Exclusions = NO_EXCLUSIONS) -> Searches:
    return Searches(store, lambda: exclusions)


def grouped(store: Store, words: str = "mill", number: int = 0, **parameters: Any) -> SearchResults:
    return searches(store).results(SearchRequest(words=words, group=True, **parameters), number)


def urls(found: SearchResults) -> list[list[str]]:
    """Return the URLs of each group, without the scheme."""
    groups = [[hit.url, *(member.url for member in hit.members)] for hit in found.hits]
    return [[url.removeprefix("https://") for url in group] for group in groups]


def counts(found: SearchResults) -> tuple[int, int | None, int, int]:
    return found.total, found.groups, found.at_least, found.at_most


def test_near_duplicates_are_one_result(store: Store) -> None:
    texts = {"a.org/1": text("a"), "b.org/": text("b"), "a.org/copy": text("a"), "c.org/": text("c", found="wheel")}
    texts |= {"a.org/edited": text("a", changed=20), "a.org/half": text("a", changed=60)}
    store.write([record(*each) for each in texts.items()])
    found = grouped(store)
    assert sorted(map(sorted, urls(found))) == [["a.org/1", "a.org/copy", "a.org/edited"], ["a.org/half"], ["b.org/"]]
    assert counts(found) == (5, 3, 3, 3)
    (group,) = (hit for hit in found.hits if hit.members)
    for member in group.members:
        one, other = (store.read([id_], Record)[id_].text for id_ in (group.card.id, member.id))
        assert member.resemblance == pytest.approx(compare(one, other).resemblance, abs=5 * member.error)
        assert member.resemblance >= 0.5
    assert found.hits[0].snippet[slice(*found.hits[0].marks[0])] == "mill"


def test_the_shown_page_is_the_best_then_the_newest_then_the_one_with_the_shortest_url(store: Store) -> None:
    more, less = text("a", found="mill mill"), text("a", found="mill more")
    store.write([record("a.org/timeless", more), record("b.org", text("b", found="mill " * 9))])
    store.write([record(f"a.org/{name}", more, fetched_at=DAY) for name in ("longer", "b", "a")])
    store.write([record("a.org/old", more, fetched_at=DAY - timedelta(1))])
    store.write([record("a.org/less", less, fetched_at=DAY + timedelta(9))])
    first, second = urls(grouped(store))
    assert first == ["b.org"]
    assert second == ["a.org/a", "a.org/b", "a.org/longer", "a.org/old", "a.org/timeless", "a.org/less"]


@pytest.mark.parametrize("difference", [-1, 0, 1])
def test_the_texts_are_compared_near_the_threshold(store: Store, difference: int) -> None:
    one, other = text("a"), text("a", changed=20)
    exact = compare(one, other).resemblance
    store.write([record("a.org/one", one), record("a.org/two", other)])
    found = grouped(store, min_resemblance=exact + difference * 1e-9)
    assert found.groups == (2 if difference > 0 else 1)
    if found.groups == 1:
        ((member,),) = (hit.members for hit in found.hits)
        assert (member.resemblance, member.kind, member.error) == (exact, "exact", 0)


def test_shown_scores_can_be_exact(store: Store) -> None:
    texts = [text("a", changed=changed) for changed in range(0, 30, 6)]
    store.write(numbered(texts))
    assert "estimate" in {member.kind for hit in grouped(store).hits for member in hit.members}
    (hit,) = grouped(store, exact=True).hits
    shown = int(hit.url[-1])
    assert {(member.resemblance, member.kind) for member in hit.members} == {
        (compare(texts[shown], each).resemblance, "exact") for number, each in enumerate(texts) if number != shown
    }


def test_pages_without_a_signature_are_grouped_only_if_identical(store: Store) -> None:
    bare = record("a.org/", "x", title="mill")
    unsigned = replace(bare.hashes, shingle_count=0, minhash=b"")
    store.write([replace(bare, url=f"https://a.org/{n}", text="", hashes=unsigned, cluster="") for n in "abc"])
    store.write([record("b.org/1", "mill"), record("b.org/2", "mill"), record("b.org/3", "a mill")])
    found = grouped(store)
    assert counts(found) == (6, 5, 5, 5)
    assert [group for group in urls(found) if len(group) > 1] == [["b.org/1", "b.org/2"]]


@pytest.mark.parametrize("by", ["signature", "both"])
@pytest.mark.parametrize("examine", [2, 100])
def test_few_words_are_copies_only_under_the_same_title(store: Store, by: Any, examine: int) -> None:
    titles = ["The first", "The second", None, "The first", None, ""]
    store.write([record(f"a.org/{n}", "A mill!", title=title) for n, title in enumerate(titles)])
    found = grouped(store, by=by, examine=examine)
    assert urls(found) == [["a.org/0", "a.org/3"], ["a.org/1"], ["a.org/2", "a.org/4", "a.org/5"]]
    assert {(member.resemblance, member.kind) for hit in found.hits for member in hit.members} == {(1.0, "exact")}
    pages = [grouped(store, number=number, by=by, examine=examine, limit=1) for number in range(4)]
    shown = [url for page in pages for group in urls(page) for url in group]
    late = [each.member.url.removeprefix("https://") for page in pages for each in page.folded]
    assert sorted(shown + late) == [f"a.org/{n}" for n in range(6)]


def test_no_hits_one_hit_and_a_page_past_the_end(store: Store) -> None:
    assert counts(grouped(store)) == (0, 0, 0, 0)
    store.write([record("a.org", text("a"))])
    assert counts(grouped(store, "wheel")) == counts(grouped(store, "...")) == (0, 0, 0, 0)
    assert (urls(grouped(store)), counts(grouped(store))) == ([["a.org"]], (1, 1, 1, 1))
    past = grouped(store, number=3)
    assert (past.hits, counts(past)) == ([], (1, 1, 1, 1))


def test_the_number_of_groups_is_a_bound_until_all_pages_were_examined(store: Store) -> None:
    store.write(numbered(text(number // 2) for number in range(20)))
    found = grouped(store, limit=2, examine=8)
    assert found.examined == 8
    assert (found.groups, found.at_least + 12) == (None, found.at_most)
    assert found.at_least <= 10 <= found.at_most
    assert counts(grouped(store, limit=2, examine=20)) == (20, 10, 10, 10)


def test_boilerplate_does_not_make_a_group(store: Store) -> None:
    template = text("template", found="")
    store.write(numbered(f"{template} {text(number, words=40)}" for number in range(4)))
    request = SearchRequest(words="mill", group=True)
    assert searches(store).results(request, 0).groups == 1
    exclusions = Exclusions([Boilerplate("template", template)], store.scheme)
    assert searches(store, exclusions).results(request, 0).groups == 4


def test_facets_count_pages_and_groups(store: Store) -> None:
    store.write([record(url, text("a"), fetched_at=DAY) for url in ("a.org/1", "b.org/1")])
    store.write([record("a.org/2", text("a"), fetched_at=DAY + timedelta(40)), record("a.org/3", text("b"))])
    found = grouped(store, facets=("site", "month", "year", "crawl"))
    assert found.facets == {
        "site": [FacetCount("a.org", 3, 2), FacetCount("b.org", 1, 1)],
        "month": [FacetCount("2026-03", 2, 1), FacetCount("", 1, 1), FacetCount("2026-04", 1, 1)],
        "year": [FacetCount("2026", 3, 1), FacetCount("", 1, 1)],
        "crawl": [FacetCount("", 4, 2)],
    }
    flat = searches(store).results(SearchRequest(words="mill", facets=("site",)), 0)
    assert [(each.value, each.pages) for each in flat.facets["site"]] == [("a.org", 3), ("b.org", 1)]
    assert (flat.groups, flat.by, flat.min_resemblance, len(flat.hits)) == (None, None, None, 4)


class TestClusters:
    """Groups by the clusters of a batch run."""

    @pytest.fixture
    def clustered(self, store: Store) -> Store:
        pages = numbered(text(number // 3, changed=number % 3) for number in range(12))
        store.write(pages)
        # The batch run has seen two of every three pages.
        store.set_clusters({page.id: pages[number // 3 * 3].id for number, page in enumerate(pages) if number % 3 < 2})
        return store

    def test_each_cluster_is_one_result_which_pages_unknown_to_the_batch_run_join(self, clustered: Store) -> None:
        found = grouped(clustered, by="cluster", facets=("site",))
        assert counts(found) == (12, 8, 8, 8)
        assert sorted(map(len, urls(found))) == [1] * 4 + [2] * 4
        assert found.facets == {"site": [FacetCount("a.org", 12, 8)]}
        assert all(member.resemblance > 0.9 for hit in found.hits for member in hit.members)
        found = grouped(clustered, by="both")
        assert counts(found) == (12, 4, 4, 4)
        wanted = [[f"a.org/{number}" for number in range(start, start + 3)] for start in range(0, 12, 3)]
        assert sorted(map(sorted, urls(found))) == sorted(map(sorted, wanted))

    @pytest.mark.parametrize("by", ["cluster", "both"])
    def test_pages_of_results(self, clustered: Store, by: Any) -> None:
        whole = grouped(clustered, by=by)
        parts = [grouped(clustered, by=by, number=number, limit=3, examine=3) for number in range(4)]
        assert [hit.url for part in parts for hit in part.hits] == [hit.url for hit in whole.hits]
        for part in parts:
            assert part.at_least <= (whole.groups or 0) <= part.at_most

    def test_members_below_the_threshold_have_their_score(self, store: Store) -> None:
        pages = [record("a.org/1", text("a")), record("a.org/2", text("b"))]
        store.write(pages)
        store.set_clusters({page.id: pages[0].id for page in pages})
        ((member,),) = (hit.members for hit in grouped(store, by="cluster").hits)
        assert member.resemblance < 0.1


@pytest.mark.check
@given(
    made=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 60)), max_size=14),  # a family, and how many words differ
    parameters=st.fixed_dictionaries(
        {
            "min_resemblance": st.sampled_from([0.2, 0.5, 0.8, 1.0]),
            "by": st.sampled_from(["signature", "cluster", "both"]),
            "group": st.booleans(),
        }
    ),
    limit=st.integers(1, 4),
    examine=st.integers(1, 6),
    writes=st.lists(st.tuples(st.sampled_from(["add", "replace", "delete"]), st.integers(0, 14)), max_size=6),
    seed=st.integers(0, 99),
)
def test_paging_gives_the_whole_result_whatever_is_written(
    new_store: Callable[[], Store],
    made: list[tuple[int, int]],
    parameters: dict[str, Any],
    limit: int,
    examine: int,
    writes: list[tuple[str, int]],
    seed: int,
) -> None:
    source = Random(seed)
    with new_store() as store:
        pages = numbered(text(of, changed=changed, found="mill " * source.randrange(1, 4)) for of, changed in made)
        store.write(pages)
        store.set_clusters({page.id: pages[source.randrange(number + 1)].id for number, page in enumerate(pages)})
        parameters["words"] = "mill"
        whole = searches(store).results(SearchRequest(**parameters, **ALL), 0)
        found = [searches(store).results(SearchRequest(**parameters, limit=limit, examine=examine), 0, keep_open=True)]
        changes = iter(writes)
        paging = searches(store)
        while found[-1].cursor is not None:
            for kind, number in [each for _, each in zip(range(2), changes, strict=False)]:
                carry_out(store, kind, number, pages)
            found.append(paging.following(Cursor.of(found[-1].cursor)))
        assert [each.total for each in found] == [len(pages)] * len(found)
        assert [hit.url for part in found for hit in part.hits] == [hit.url for hit in whole.hits]
        assert members_by_group(found) == members_by_group([whole])
        assert found[-1].groups == whole.groups


def carry_out(store: Store, kind: str, number: int, pages: list[Record]) -> None:
    if kind == "add" or number >= len(pages):
        store.write([record(f"a.org/new{number}", text(number % 5, found="mill mill mill mill"))])
    elif kind == "replace":
        store.write([record(f"a.org/{number}", text("other", found="mill"))])
    else:
        store.delete([pages[number].id])


def members_by_group(found: list[SearchResults]) -> dict[str, set[str]]:
    """Return the members of each group, including those that came on a later page of results."""
    groups = {hit.url: {member.url for member in hit.members} for part in found for hit in part.hits}
    for part in found:
        for late in part.folded:
            assert late.member.url not in groups[late.url]
            groups[late.url].add(late.member.url)
    return groups


def test_members_found_late_are_reported_on_a_later_page(store: Store) -> None:
    store.write(numbered(text(number % 5, found="mill " * (30 - number)) for number in range(25)))
    first = searches(store).results(SearchRequest(words="mill", group=True, limit=2, examine=5), 0, keep_open=True)
    assert [len(hit.members) for hit in first.hits] == [0, 0]
    assert first.cursor is not None
    paging = searches(store)
    second = paging.following(Cursor.of(first.cursor))
    assert second.folded == []  # they were examined already
    assert second.cursor is not None
    third = paging.following(Cursor.of(second.cursor))
    assert {late.url for late in third.folded} == {hit.url for hit in first.hits + second.hits}
    assert third.cursor is None
    assert (third.total, third.groups) == (25, 5)


def test_a_page_of_results_can_be_requested_again(store: Store) -> None:
    store.write(numbered(map(text, range(9))))
    paging = searches(store)
    first = paging.results(SearchRequest(words="mill", group=True, limit=4), 0, keep_open=True)
    assert first.cursor is not None
    second = paging.following(Cursor.of(first.cursor))
    assert second.cursor is not None
    third = paging.following(Cursor.of(second.cursor))
    assert (len(third.hits), third.cursor) == (1, None)
    assert paging.following(Cursor.of(first.cursor)).hits == second.hits


def test_an_expired_cursor_is_reported(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(numbered(map(text, range(9))))
    request = SearchRequest(words="mill", group=True, limit=2)
    view = store.view(request.parsed, keep_open=True)
    view.close()
    monkeypatch.setattr(view_cache, "MAX_IDLE_MINUTES", 0)
    with pytest.raises(StoreError, match="the cursor has expired: search again"):
        searches(store).following(Cursor(request, view.key, 1))


@pytest.mark.parametrize("written", ["", "x", "====", "eJwrSS0uAQAEXQHB", "ä", "a" * 10_000])
def test_invalid_cursors_are_refused(written: str) -> None:
    with pytest.raises(QuestionError, match="this is not a cursor"):
        Cursor.of(written)


@given(st.text(max_size=40), st.integers(0, 10**9), st.sampled_from([None, DAY]))
def test_cursors_contain_the_request(words: str, number: int, since: datetime | None) -> None:
    where = Filters(site="a.org", since=since, latest=True)
    request = SearchRequest(words=words, where=where, facets=("site",), group=True)
    cursor = Cursor(request, "key", number)
    assert Cursor.of(str(cursor)) == cursor


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"min_resemblance": 0}, "min_resemblance is a share above 0 and at most 1, not 0"),
        ({"min_resemblance": 1.5}, "min_resemblance is a share above 0"),
        ({"by": "url"}, "by is one of signature, cluster, both, not 'url'"),
        ({"limit": 0}, "limit is a whole number from 1 to 10,000, not 0"),
        ({"examine": 0}, "examine is a whole number from 1 to 1,000,000, not 0"),
        ({"facets": ("title",)}, "facets is a list of site, crawl, month, year, .*not .'title'"),
    ],
)
def test_invalid_requests_are_refused(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(QuestionError, match=complaint):
        SearchRequest(words="mill", **parameters)
