"""The changes screen, over HTTP and in a browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from urllib.parse import parse_qsl

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.operations.crawls.changes import KINDS, ChangesQuestion
from opensearch_winnow.web.kept_changes import KeptChanges
from opensearch_winnow.web.server_threads import BusyError
from tests.test_index import near, prose
from tests.web.browser_fixture import NewPage, accessibility_faults, scrolls_sideways
from tests.web.conftest import Serve
from tests.web.served_fixture import Served, serving

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
SITE = "https://site.example"
DAYS = {"spring": datetime(2024, 3, 1, tzinfo=UTC), "autumn": datetime(2024, 9, 1, tzinfo=UTC)}


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """`winnow serve` on a store with a page of each kind, and with many new ones."""
    text = {name: prose(name, 150) for name in ("same", "changed", "moved", "gone", "one", "two", "three", "x", "y")}
    spring = {name: text[name] for name in ("same", "changed", "moved", "gone", "one", "two", "three")}
    spring["long"] = f"{text['x']} {text['y']}"
    autumn = {
        "same": text["same"],
        "changed": near(text["changed"], 1, 3),
        "moved/<here>": text["moved"],
        "merged": f"{text['one']} {text['two']} {text['three']}",
        "long/x": text["x"],
        "long/y": text["y"],
        **{f"new/{number:02}": prose(number, 60) for number in range(30)},
    }
    path = tmp_path_factory.mktemp("changes") / "crawl.winnow"
    with Index.open(path) as index:
        for crawl, pages in (("spring", spring), ("autumn", autumn)):
            made = [
                Page(f"{SITE}/{name}", text=each, title=name, fetched_at=DAYS[crawl]) for name, each in pages.items()
            ]
            index.add(made, crawl=crawl)
    with serving(path) as found:
        yield found


COUNTS = {"unchanged": 1, "changed": 1, "moved": 1, "split": 1, "merged": 3, "new": 30, "not_seen": 1}


def test_the_two_latest_crawls_are_compared(crawls: Served) -> None:
    found = crawls.json("/api/v1/changes?limit=1000")
    assert (found["from"], found["to"], found["reason"]) == ("spring", "autumn", None)
    assert found["counts"] == COUNTS
    assert len(found["pages"]) == found["found"] == sum(COUNTS.values())
    assert found == crawls.json("/changes.json?from=spring&to=autumn&limit=1000")
    dates = crawls.json("/api/v1/changes?from=2024-03&to=2024-09")
    assert (dates["from"], dates["counts"]) == ("2024-03", COUNTS)


def test_a_kind_is_listed_in_parts(crawls: Served) -> None:
    parts = [crawls.json(f"/api/v1/changes?change=new&limit=12&page={page}") for page in (1, 2, 3, 4)]
    assert [len(part["pages"]) for part in parts] == [12, 12, 6, 0]
    assert [part["more"] for part in parts] == [True, True, False, False]
    assert {part["found"] for part in parts} == {30}
    assert "Back to the first part of the list" in crawls.get("/changes?change=new&limit=12&page=4").text
    rows = crawls.get("/changes.csv?near_revisits=on").rows
    assert [(row["change"], row["url"]) for row in rows] == [("unchanged", f"{SITE}/same")]


def test_the_screen(crawls: Served) -> None:
    reply = crawls.get("/changes")
    assert reply.heading == "1 of 8 pages changed, 1 moved, 1 split, 3 merged, 1 not seen again, 30 are new"
    tree = reply.tree
    tabs = [" ".join(each.text_content().split()) for each in tree.xpath("//nav[contains(@class, 'kinds')]/*")]
    assert tabs[0] == "All 38"
    assert "Merged 3" in tabs
    assert tabs[-2:] == ["Unchanged 1", "Need not be kept 1"]
    rows = tree.xpath("//table/tbody/tr")
    (changed,) = (row for row in rows if row.xpath(".//ins"))
    assert changed.xpath(".//a[@data-compare]/@href")[0].endswith("?view=differences")
    assert changed.xpath(".//ins")[0].text == "changed"
    assert "<here>" in rows[0].text_content()


def test_pages_without_a_text_are_told(tmp_path: Path, serve: Serve) -> None:
    url = f"{SITE}/revisited"
    with Index.open(tmp_path / "revisits.winnow") as index:
        for crawl, time in DAYS.items():
            index.add([Page(url, revisit_of=url, payload_digest=f"sha1:{crawl}", fetched_at=time)], crawl=crawl)
    served = serve(tmp_path / "revisits.winnow")
    assert served.json("/api/v1/changes")["without_text"] == 1
    reply = served.get("/changes")
    assert reply.heading == "1 of 1 page changed or may have changed (1 has no text to compare)"
    tree = reply.tree
    assert tree.xpath("//td[@class='change']")[0].text_content() == "changed no text to compare"
    assert tree.xpath("//a[@data-compare]") == []


def test_requests_that_cannot_be_answered(crawls: Served, served_file: Served) -> None:
    unknown = crawls.get("/api/v1/changes?from=winter&to=autumn")
    assert (unknown.status, "there is no crawl 'winter'" in unknown.text) == (400, True)
    half = served_file.get("/api/v1/changes?from=2024")
    assert (half.status, "give both crawls, from and to" in half.text) == (400, True)
    one = served_file.json("/api/v1/changes")
    assert one["reason"].endswith("has only one crawl, 'known'; index another one, or compare two dates")
    assert one["counts"] == dict.fromkeys(KINDS, 0)
    assert served_file.get("/changes").heading == "Nothing to compare yet"


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=winter&to=autumn", "There is no crawl 'winter'"),
        ("from=autumn", "Give both crawls"),
        ("from=spring&to=autumn&limit=many", "limit is a whole number"),
    ],
)
def test_a_form_that_is_refused_keeps_what_was_typed(crawls: Served, query: str, words: str) -> None:
    reply = crawls.get(f"/changes?{query}")
    tree = reply.tree
    assert (reply.status, reply.heading) == (400, "These crawls cannot be compared")
    assert words in tree.get_element_by_id("fault").text_content()
    for name, value in parse_qsl(query):
        assert name == "limit" or tree.xpath(f"//form//input[@name='{name}']/@value") == [value]


def test_crawls_without_a_url_in_common(crawls: Served, serve: Serve, tmp_path: Path) -> None:
    copied = Path(shutil.copy(crawls.store, tmp_path / "copied.winnow"))
    pages = [
        Page(f"https://{name}.example/1", text=prose("same", 150), fetched_at=datetime(2024, 11, 1, tzinfo=UTC))
        for name in ("one", "two", "three")
    ]
    with Index.open(copied) as index:
        index.add(pages, crawl="copies")
    served = serve(copied)
    found = served.json("/changes.json")
    assert (found["from"], found["to"], found["common"]) == ("spring", "autumn", 2)
    reply = served.get("/changes?from=autumn&to=copies")
    assert reply.heading == "autumn and copies have no URL in common"
    assert "1 of 36 pages has its text at another URL in copies" in reply.text
    assert reply.tree.xpath("//main//p/a/@href") == ["/changes?from=spring&to=autumn"]


def test_a_long_comparison_says_how_far_it_is(crawls: Served) -> None:
    waiting = Event()

    def slow() -> Index:
        assert waiting.wait(10)
        return Index.open(crawls.store, create=False)

    kept, compared = KeptChanges(slow), ChangesQuestion("spring", "autumn")
    with Index.open(crawls.store) as index:
        with pytest.raises(BusyError, match="try again in a moment"):
            kept.get(index, compared, 0.01)
        waiting.set()
        assert kept.get(index, compared, 10).counts == COUNTS
        assert kept.get(index, compared, 0) is kept.get(index, compared, 0)


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_in_a_browser(crawls: Served, new_page: NewPage, dark: bool) -> None:
    page = new_page(viewport={"width": 390, "height": 844}, color_scheme="dark" if dark else "light")
    page.goto(crawls.url("/changes"))
    assert not scrolls_sideways(page)
    assert accessibility_faults(page) == []
    page.get_by_role("link", name="Moved 1").click()
    assert page.locator("tbody tr").count() == 1
    page.locator("a[data-compare]").first.click()
    page.wait_for_url("**/compare/**")
