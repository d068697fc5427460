"""The changes screen, over HTTP and in a browser."""

from __future__ import annotations

import csv
import io
import shutil
from datetime import UTC, datetime
from pathlib import Path
from threading import Event
from urllib.parse import parse_qsl

import pytest
from lxml import html

from opensearch_winnow import Index, Page
from opensearch_winnow.operations.crawls.changes import KINDS, ChangesQuestion
from opensearch_winnow.web.kept_changes import KeptChanges
from opensearch_winnow.web.server_threads import BusyError
from tests.test_index import near, prose
from tests.web.browser_fixture import NewPage, accessibility_faults, scrolls_sideways
from tests.web.conftest import Serve
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
SITE = "https://site.example"
DAYS = {"spring": datetime(2024, 3, 1, tzinfo=UTC), "autumn": datetime(2024, 9, 1, tzinfo=UTC)}


def two_crawls(store: Path) -> Path:
    """Make a store with a page of each kind, and with many new ones."""
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
    with Index.open(store) as index:
        for crawl, pages in (("spring", spring), ("autumn", autumn)):
            made = [
                Page(f"{SITE}/{name}", text=each, title=name, fetched_at=DAYS[crawl]) for name, each in pages.items()
            ]
            index.add(made, crawl=crawl)
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return two_crawls(tmp_path_factory.mktemp("changes") / "crawl.winnow")


COUNTS = {"unchanged": 1, "changed": 1, "moved": 1, "split": 1, "merged": 3, "new": 30, "not_seen": 1}


def test_the_two_latest_crawls_are_compared(store: Path, serve: Serve) -> None:
    served = serve(store)
    found = served.json("/api/v1/changes?limit=1000")
    assert (found["from"], found["to"], found["reason"]) == ("spring", "autumn", None)
    assert found["counts"] == COUNTS
    assert len(found["pages"]) == found["found"] == sum(COUNTS.values())
    assert found == served.json("/changes.json?from=spring&to=autumn&limit=1000")
    with Index.open(store) as index:
        told = [(each.change, each.url, each.to_url, each.resemblance) for each in index.changes().pages]
    assert [(each["change"], each["url"], each["to_url"], each["resemblance"]) for each in found["pages"]] == told
    dates = served.json("/api/v1/changes?from=2024-03&to=2024-09")
    assert (dates["from"], dates["counts"]) == ("2024-03", COUNTS)


def test_a_kind_is_listed_in_parts(store: Path, serve: Serve) -> None:
    served = serve(store)
    parts = [served.json(f"/api/v1/changes?change=new&limit=12&page={page}") for page in (1, 2, 3, 4)]
    assert [len(part["pages"]) for part in parts] == [12, 12, 6, 0]
    assert [part["more"] for part in parts] == [True, True, False, False]
    assert {part["found"] for part in parts} == {30}
    assert "Back to the first part of the list" in served.get("/changes?change=new&limit=12&page=4").text
    rows = list(csv.DictReader(io.StringIO(served.get("/changes.csv?near_revisits=on").text)))
    assert [(row["change"], row["url"]) for row in rows] == [("unchanged", f"{SITE}/same")]


def test_the_screen(store: Path, serve: Serve) -> None:
    tree = html.fromstring(serve(store).get("/changes").text)
    assert tree.findtext(".//h1") == "1 of 8 pages changed, 1 moved, 1 split, 3 merged, 1 not seen again, 30 are new"
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
    tree = html.fromstring(served.get("/changes").text)
    assert tree.findtext(".//h1") == "1 of 1 page changed or may have changed (1 has no text to compare)"
    assert "1 page has no text to compare: a capture is a revisit" in tree.text_content()
    assert tree.xpath("//td[@class='change']")[0].text_content() == "changed no text to compare"
    assert tree.xpath("//a[@data-compare]") == []


def test_requests_that_cannot_be_answered(store: Path, served_file: Served, serve: Serve) -> None:
    unknown = serve(store).get("/api/v1/changes?from=winter&to=autumn")
    assert unknown.status == 400
    assert "there is no crawl 'winter': crawl.winnow has the crawls autumn, spring" in unknown.text
    half = served_file.get("/api/v1/changes?from=2024")
    assert (half.status, "give both crawls, from and to" in half.text) == (400, True)
    one = served_file.json("/api/v1/changes")
    assert one["reason"].endswith("has only one crawl, 'known'; index another one, or compare two dates")
    assert one["counts"] == dict.fromkeys(KINDS, 0)
    assert ">Nothing to compare yet</h1>" in served_file.get("/changes").text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("from=winter&to=autumn", "There is no crawl 'winter': crawl.winnow has the crawls autumn, spring"),
        ("from=autumn&to=autumn", "cannot be compared with itself"),
        ("from=autumn", "Give both crawls, from and to"),
        ("from=spring&to=autumn&site=nowhere.example", "nowhere.example"),
        ("from=spring&to=autumn&limit=many", "limit is a whole number"),
    ],
)
def test_a_form_that_is_refused_keeps_what_was_typed(store: Path, serve: Serve, query: str, words: str) -> None:
    reply = serve(store).get(f"/changes?{query}")
    tree = html.fromstring(reply.text)
    assert (reply.status, tree.findtext(".//h1")) == (400, "These crawls cannot be compared")
    assert words in tree.get_element_by_id("fault").text_content()
    for name, value in parse_qsl(query):
        assert name == "limit" or tree.xpath(f"//form//input[@name='{name}']/@value") == [value]


def test_crawls_without_a_url_in_common(store: Path, serve: Serve, tmp_path: Path) -> None:
    copied = Path(shutil.copy(store, tmp_path / "copied.winnow"))
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
    tree = html.fromstring(reply.text)
    assert tree.findtext(".//h1") == "autumn and copies have no URL in common"
    assert "1 of 36 pages has its text at another URL in copies. Compare spring with autumn" in tree.text_content()
    assert tree.xpath("//main//p/a/@href") == ["/changes?from=spring&to=autumn"]


def test_a_long_comparison_says_how_far_it_is(store: Path) -> None:
    waiting = Event()

    def slow() -> Index:
        assert waiting.wait(10)
        return Index.open(store, create=False)

    kept = KeptChanges(slow)
    compared = ChangesQuestion("spring", "autumn")
    with Index.open(store) as index:
        with pytest.raises(BusyError, match="the crawls are being compared: try again in a moment"):
            kept.get(index, compared, 0.01)
        waiting.set()
        assert kept.get(index, compared, 10).counts == COUNTS
        assert kept.get(index, compared, 0) is kept.get(index, compared, 0)


@pytest.mark.check
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_in_a_browser(store: Path, serve: Serve, new_page: NewPage, dark: bool) -> None:
    served = serve(store)
    page = new_page(viewport={"width": 390, "height": 844}, color_scheme="dark" if dark else "light")
    page.goto(served.url("/changes"))
    assert not scrolls_sideways(page)
    assert accessibility_faults(page) == []
    page.get_by_role("link", name="Moved 1").click()
    assert page.locator("tbody tr").count() == 1
    page.locator("a[data-compare]").first.click()
    page.wait_for_url("**/compare/**")
