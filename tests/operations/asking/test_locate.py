"""Where a page went, on both kinds of store."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page, QuestionError, compare
from opensearch_winnow.answers.asking.locate import located_summary
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.saved_recipe import save_recipe
from tests.test_index import near, prose

ARTICLE, CHAPTER, GUIDE, POEM = (prose(name, 200) for name in ("article", "chapter", "guide", "poem"))
REVISED = near(ARTICLE, "revised", 5)
BOTH = f"{CHAPTER} {GUIDE}"


def day(year: int, month: int = 1, date: int = 1) -> datetime:
    return datetime(year, month, date, tzinfo=UTC)


def page(path: str, text: str, time: datetime | None) -> Page:
    return Page(f"https://{path}", text=text, fetched_at=time)


FIRST = [
    page("a.example/article", ARTICLE, day(2020)),
    page("a.example/poem", POEM, day(2020)),
    page("a.example/book", BOTH, day(2020)),
    page("a.example/lost", prose("lost", 200), day(2020)),
    page("a.example/news", prose("news", 200), day(2020)),
    page("mirror.example/article", ARTICLE, day(2020, 1, 3)),  # the crawl took some days
    page("a.example/undated", prose("undated", 200), None),
]
SECOND = [
    page("a.example/essays/article", REVISED, day(2021)),
    page("mirror.example/article", ARTICLE, day(2021)),
    page("a.example/anthology", f"{prose('anthology', 900)} {POEM}", day(2021)),
    page("a.example/book/1", CHAPTER, day(2021)),
    page("a.example/book/2", GUIDE, day(2021)),
    page("a.example/news", f"Not found. {prose('error', 60)}", day(2021)),
    page("a.example/news/old", near(prose("news", 200), "old", 3), day(2021)),
    page("b.example/undated-copy", ARTICLE, None),
]
THIRD = [page("a.example/essays/article", near(REVISED, "again", 5), day(2022))]


@pytest.fixture(scope="module")
def index(shared_index: Index) -> Index:
    for number, pages in enumerate((FIRST, SECOND, THIRD), 1):
        shared_index.add(pages, crawl=f"crawl {number}")
    return shared_index


def changes(index: Index, path: str, at: datetime | None = None) -> list[tuple[str, str]]:
    return [(each.change, each.url.removeprefix("https://")) for each in index.locate(f"https://{path}", at=at)]


def test_a_moved_page_is_found_by_its_best_capture(index: Index) -> None:
    located = index.locate("https://a.example/article")
    mirror, moved = located
    assert located.last_seen == day(2020)
    assert (located.total, located.undated, located.unscored) == (2, 1, 0)
    assert (mirror.url, mirror.change, mirror.first_seen) == ("https://mirror.example/article", "copy", day(2020, 1, 3))
    assert (mirror.card.fetched_at, mirror.resemblance, mirror.kind, mirror.error) == (day(2021), 1, "exact", 0)
    assert (moved.url, moved.change, moved.first_seen) == ("https://a.example/essays/article", "moved", day(2021))
    expected = compare(ARTICLE, REVISED)
    scores = expected.resemblance, expected.containment, expected.contained
    assert (moved.resemblance, moved.containment, moved.contained) == scores
    assert moved.card.fetched_at == day(2021)  # in 2022 it resembles the article less
    some = index.locate("https://a.example/article", limit=1)
    assert (len(some), some.total, some[0].change) == (1, 2, "copy")


def test_merged_and_split_pages(index: Index, file_index: Index) -> None:
    assert changes(index, "a.example/poem") == [("merged", "a.example/anthology")]
    assert changes(index, "a.example/book") == [("split", "a.example/book/1"), ("split", "a.example/book/2")]
    part = index.locate("https://a.example/book")[0]
    assert part.containment < 0.5 < part.contained == 1

    # Parts are not sought if a page has most of it.
    later = [page("a.example/1", CHAPTER, day(2021)), page("a.example/all", near(BOTH, 1, 2), day(2021))]
    file_index.add([page("a.example/book", BOTH, day(2020)), *later])
    assert changes(file_index, "a.example/book") == [("moved", "a.example/all")]


@pytest.mark.parametrize(
    ("later", "successor"),
    [
        (["b.example/1"], "b.example/1"),
        (["b.example/1", "c.example/2", "d.example/3"], None),  # nobody knows where it went, if anywhere
        (["b.example/1", "a.example/new", "c.example/2"], "a.example/new"),  # the same site
        (["b.example/1", "b.example/old/it", "c.example/2"], "b.example/old/it"),  # the same path
        (["a.example/1", "a.example/new/it", "c.example/it"], "a.example/new/it"),  # the same name on this site
        (["a.example/1", "a.example/2"], None),
    ],
)
@pytest.mark.parametrize("change", ["moved", "merged", "split"])
def test_a_page_moves_to_one_place_at_most(
    file_index: Index, later: list[str], successor: str | None, change: str
) -> None:
    texts = {path: {"merged": f"{BOTH} {prose(path, 900)}", "split": CHAPTER}.get(change, BOTH) for path in later}
    file_index.add([page("a.example/old/it", BOTH, day(2020))])
    file_index.add([page(path, text, day(2021)) for path, text in texts.items()])
    found = {path: change for change, path in changes(file_index, "a.example/old/it")}
    assert found == {path: change if path == successor else "copy" for path in later}


def test_the_page_of_an_earlier_date(index: Index) -> None:
    assert changes(index, "a.example/news") == []  # the error page went nowhere
    assert changes(index, "a.example/news", at=day(2020, 12)) == [("moved", "a.example/news/old")]
    found = index.locate("https://a.example/essays/article", at=day(2021))
    assert [(each.change, each.card.fetched_at) for each in found] == [("changed", day(2022))]
    same = index.locate("https://mirror.example/article", at=day(2020, 2))
    assert [each.change for each in same] == ["unchanged", "copy"]  # it is still there
    assert index.locate(id=same.page.id).found == same.found
    with pytest.raises(QuestionError, match=r"has no page https://a\.example/poem/; there is https://a\.example/poem$"):
        index.locate("https://a.example/poem/")


def test_of_equals_the_page_of_the_same_name_comes_first(file_index: Index) -> None:
    file_index.add([page("a.example/old/article.html", ARTICLE, day(2020))])
    paths = [f"{path}.html" for path in ("a.example/new/article", "b.example/particle", "a.example/a", "c.example/b")]
    file_index.add([page(path, ARTICLE, day(2021)) for path in sorted(paths)])
    assert [path for _, path in changes(file_index, "a.example/old/article.html")] == paths


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("lost", "{url} was last seen on 2020-01-01, and each of the 8 captures since then has less than half of it"),
        ("essays/article", "is in the latest crawl of {store}, of 2022-01-01; 1 page of unknown date has it"),
        ("book/1", "{url} was last seen on 2021-01-01, and the only capture since then has less than half of it"),
        ("undated", "{store} does not know when {url} was captured, and so not which pages are later"),
    ],
)
def test_one_sentence_says_why_nothing_is_found(index: Index, path: str, reason: str) -> None:
    url = f"https://a.example/{path}"
    located = index.locate(url)
    assert (located.found, located.total) == ([], 0)
    assert (located.reason or "").endswith(reason.format(url=url, store=index.name))


def test_a_few_words_are_sought_as_a_whole_page_only(file_index: Index) -> None:
    file_index.add([page("a.example/1", "Not found.", day(2020)), page("a.example/2", f"Not found. {POEM}", day(2021))])
    reason = file_index.locate("https://a.example/1").reason
    assert reason
    assert reason.endswith("no later page has the same text; it is too short to be looked for in longer pages")
    file_index.add([page("a.example/3", "Not found", day(2021))])
    assert changes(file_index, "a.example/1") == [("moved", "a.example/3")]


def test_a_shared_passage_is_mentioned(file_index: Index) -> None:
    file_index.add([page("a.example/1", f"{POEM} {BOTH}", day(2020)), page("a.example/2", POEM + ARTICLE, day(2021))])
    reason = file_index.locate("https://a.example/1").reason
    assert reason
    assert reason.endswith("has less than half of it; 1 later page shares a passage with it")


def test_without_names_of_crawls_the_time_alone_counts(file_index: Index) -> None:
    file_index.add([page("a.example/1", ARTICLE, day(2020)), page("a.example/2", ARTICLE, day(2020, 1, 2))])
    assert changes(file_index, "a.example/1") == [("moved", "a.example/2")]
    file_index.add([page("b.example/1", POEM, day(2020)), page("b.example/2", POEM, day(2020, 1, 2))], crawl="one")
    assert changes(file_index, "b.example/1") == []


def test_without_texts_the_scores_are_estimates(tmp_path: Path) -> None:
    with EmbeddedStore.open(tmp_path / "crawl.winnow", create=True) as store:
        save_recipe(store, Recipe(text=False))
    with Index.open(tmp_path / "crawl.winnow") as index:
        long = prose("long", 3_000)
        index.add([page("a.example/1", long, day(2020)), page("a.example/2", near(long, 1, 20), day(2021))])
        (found,) = index.locate("https://a.example/1")
    assert (found.change, found.kind) == ("moved", "estimate")
    assert 0 < found.error < 0.2


def test_boilerplate_does_not_count(file_index: Index) -> None:
    menu = prose("menu", 300)
    file_index.add([page(f"a.example/{n}", f"{menu} {prose(n, 100)}", day(2020 + n)) for n in (0, 1)])
    assert changes(file_index, "a.example/0") == [("moved", "a.example/1")]
    file_index.add_boilerplate("menu", menu)
    assert changes(file_index, "a.example/0") == []
    assert [each.change for each in file_index.locate("https://a.example/0", boilerplate=False)] == ["moved"]


def test_the_summary_counts_what_happened(index: Index) -> None:
    def summary(path: str, limit: int | None = 20) -> str:
        return located_summary(index.locate(f"https://{path}", limit=limit))

    assert summary("a.example/article") == "last seen on 2020-01-01, found on 2 later pages: 1 moved, 1 copy"
    assert summary("a.example/article", 1) == "last seen on 2020-01-01, found on 2 later pages"
    assert summary("a.example/book") == "last seen on 2020-01-01, found on 2 later pages: 2 split"
    assert summary("a.example/lost") == "last seen on 2020-01-01, found on no later page"
    assert summary("a.example/undated") == "last seen at an unknown time, found on no later page"
