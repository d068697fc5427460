"""The screens of versions and of lost pages over HTTP, on two crawls of one site."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from opensearch_winnow import Index
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import capture_id
from opensearch_winnow.operations.asking.versions import Version, Versions
from opensearch_winnow.web.screens.asking.versions import MIN_SPAN, seen_spans
from tests.web.browser_fixture import NewPage, accessibility_faults, scrolls_sideways
from tests.web.known_crawl_fixture import MILL_TEXT, at, capture, paragraphs
from tests.web.served_fixture import Served, serving

OLD, NEW, COPY, BOOK = (
    f"https://{path}" for path in ("mill.example/old", "mill.example/new", "copy.example/mill", "mill.example/book")
)
REVISED = [*MILL_TEXT[:7], *paragraphs("mill news", 1)]
FIRST = [capture(OLD, "The mill", MILL_TEXT, at(1)), capture(COPY, "The mill, copied", MILL_TEXT, at(1))]
SECOND = [
    capture(NEW, "The mill, moved", MILL_TEXT, at(6)),
    capture(COPY, "The mill, copied", MILL_TEXT, at(6)),
    capture(BOOK, "<b>A book</b>", [*MILL_TEXT, *paragraphs("mill book", 12)], at(6)),
]
THIRD = [capture(NEW, "The mill, revised", REVISED, at(9))]
ID = capture_id(OLD, at(1))
PAGE = f"/page/{ID}"


@pytest.fixture(scope="module")
def crawls(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    store: Path = tmp_path_factory.mktemp("lost") / "lost.winnow"
    with Index.open(store) as index:
        for number, pages in enumerate((FIRST, SECOND, THIRD), 1):
            index.add(pages, crawl=f"crawl {number}")
    with serving(store) as served:
        yield served


def without_seconds(document: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in document.items() if name != "seconds"}


def test_where_a_page_is_now(crawls: Served) -> None:
    found = crawls.json(f"{PAGE}/locate.json")
    assert {each["url"]: each["change"] for each in found["found"]} == {NEW: "moved", COPY: "copy", BOOK: "merged"}
    by_url = crawls.json(f"/api/v1/locate?url={quote(OLD)}")
    assert without_seconds(by_url) == without_seconds(found)
    shown = crawls.get(f"{PAGE}/locate")
    assert shown.heading == "Last seen on 2024-01-01, found on 3 later pages: 1 moved, 1 merged, 1 copy"
    assert all(words in shown.text for words in ("Moved here", "Copy, there since 2024-01-01", "Merged into this page"))
    assert "&lt;b&gt;A book&lt;/b&gt;" in shown.text
    rows = crawls.get(f"{PAGE}/locate.csv").rows
    assert [row["url"] for row in rows] == [NEW, COPY, BOOK]
    assert f'href="{PAGE}/locate"' in crawls.get(PAGE).text


def test_why_a_page_is_nowhere(crawls: Served) -> None:
    latest = crawls.get(f"/page/{capture_id(NEW, at(9))}/locate")
    assert latest.heading == "Last seen on 2024-09-01, found on no later page"
    assert "is in the latest crawl of lost.winnow" in latest.text
    unknown = crawls.get(f"/api/v1/locate?url={quote(OLD)}/")
    assert (unknown.status, unknown.json["error"]) == (404, f"lost.winnow has no page {OLD}/; there is {OLD}")
    assert crawls.get("/api/v1/locate").status == 400


def test_versions(crawls: Served) -> None:
    found = crawls.json(f"{PAGE}/versions.json")
    old, new = found["versions"]
    assert (old["pages"], old["stale"], old["stale_pages"]) == ([COPY, OLD, NEW], True, [COPY, OLD])
    assert (new["pages"], new["stale"], new["same"]) == ([NEW], False, False)
    by_url = crawls.json(f"/api/v1/versions?url={quote(OLD)}")
    assert without_seconds(by_url) == without_seconds(found)
    sent = crawls.post("/api/v1/versions?min_resemblance=0.9", {"text": "\n\n".join(MILL_TEXT)})
    assert sent.json["versions"] == [old]
    shown = crawls.get(f"{PAGE}/versions?min_resemblance=0.9")
    assert shown.heading == "1 version on 3 pages; 2 pages are stale"
    rows = crawls.get(f"{PAGE}/versions.csv?min_resemblance=0.9").rows
    assert [(row["version"], row["url"], row["stale"]) for row in rows] == [
        ("1", COPY, "true"),
        ("1", OLD, "true"),
        ("1", NEW, "false"),
    ]


def test_the_line_of_time_of_a_version() -> None:
    days = [datetime(2024, 1, day, tzinfo=UTC) for day in (1, 11, 21)]

    def spans(**seen: list[datetime | None]) -> dict[str, tuple[float, float]]:
        card = Card("", OLD, "", "", None, None, True, "", 0, 0, 0, None, None, "")
        made = [
            Version([card._replace(id=id_, fetched_at=time) for time in times], None, False)
            for id_, times in seen.items()
        ]
        return seen_spans(Versions(len(made), 1, 0, 0.5, 0, 0.0, made))

    found = spans(a=[days[0], days[1]], b=[days[2]], c=[None])
    assert found == {"a": (0, 50), "b": (100 - MIN_SPAN, MIN_SPAN)}
    assert spans(a=[days[0]]) == spans(c=[None]) == {}


@pytest.mark.check
@pytest.mark.parametrize("screen", ["locate", "versions"])
@pytest.mark.parametrize("colour", ["light", "dark"])
def test_in_a_browser(crawls: Served, new_page: NewPage, screen: str, colour: Any) -> None:
    page = new_page(color_scheme=colour, viewport={"width": 390, "height": 800})
    page.goto(crawls.url(f"{PAGE}/{screen}"))
    assert accessibility_faults(page) == []
    assert not scrolls_sideways(page)
