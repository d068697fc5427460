"""Messages for an empty store, a store that does not answer, and a slow store."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from playwright.sync_api import Page, expect

from opensearch_winnow import Index
from opensearch_winnow.stores.engine.running import Running
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway
from tests.web.addresses_fixture import SHOWN
from tests.web.browser_fixture import Witness, accessibility_faults
from tests.web.conftest import WORKER, Serve, made
from tests.web.known_crawl_fixture import HARBOUR, IDS, MILL, MOVED, PAGES
from tests.web.served_fixture import Served, serving

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
OPEN = [screen.path for screen in SHOWN if "{" not in screen.path]


@pytest.fixture(scope="module")
def empty(new_name: str) -> Iterator[Served]:
    with Index.open(new_name) as index:
        index.add([])
    with serving(new_name, "--write") as found:
        yield found


@pytest.mark.parametrize("path", [*OPEN, "/search?words=mill"])
def test_an_empty_store(page: Page, empty: Served, path: str) -> None:
    page.goto(empty.url(path))
    shown = page.locator("main").inner_text()
    assert not re.search(r"\b(nan|null|undefined|traceback)\b", shown.lower())
    if path in ("/", "/search?words=mill", "/clusters", "/statistics"):
        assert "winnow index" in shown
    expect(page.locator("[action='/clusters/start']")).to_have_count(0)
    assert accessibility_faults(page) == []


def test_an_engine_that_goes_and_comes_back(page: Page, engine: Running, serve: Serve, witness: Witness) -> None:
    made(f"{engine.url}/gone-{WORKER}", PAGES)
    witness.allowed.append("503")
    door = SimpleNamespace(way="open")

    def pass_on(_: Arrived) -> Answer | None:
        if door.way == "gone":
            raise ConnectionResetError  # the connection ends without an answer
        return Answer(503, b"{}") if door.way == "busy" else None

    with Gateway(engine.url, pass_on) as gateway:
        served = serve(f"{gateway.url}/gone-{WORKER}")
        page.goto(served.url("/search?words=mill"))
        expect(page.locator("h1")).to_have_text(re.compile("^11 pages in 7 groups"))
        door.way = "busy"
        for path in ("/search?words=harbour", f"/page/{IDS[MILL]}", f"/compare/{IDS[MILL]}/{IDS[MOVED]}", "/clusters"):
            page.goto(served.url(path))
            expect(page.locator("h1")).to_have_text("Temporarily unavailable")
        assert accessibility_faults(page) == []
        door.way = "gone"
        reply = served.get("/api/v1/search?words=mill")
        assert (reply.status, reply.headers["retry-after"]) == (503, "2")
        assert reply.json["error"]
        page.goto(served.url("/search?words=harbour"))
        expect(page.locator("h1")).to_have_text("Temporarily unavailable")
        door.way = "open"
        page.get_by_role("link", name="Try again").click()
        expect(page.locator("h1")).to_have_text(re.compile("^4 pages in 1 group"))


def test_a_file_that_is_taken_away_and_another_one_put_there(page: Page, own_file: Path, serve: Serve) -> None:
    served = serve(own_file)
    page.goto(served.url("/search?words=mill"))
    own_file.unlink()
    with Index.open(own_file) as index:
        index.add([each for each in PAGES if each.url == HARBOUR])
    page.goto(served.url("/search?words=harbour"))
    expect(page.locator("h1")).to_have_text("1 page")


def test_an_address_that_leads_nowhere(page: Page, served_file: Served, witness: Witness) -> None:
    witness.allowed += ["404", "400"]
    for path, words in (("/zeppelin", "Not found"), ("/clusters?page=many", "Invalid request")):
        page.goto(served_file.url(path))
        expect(page.locator("h1")).to_have_text(words)
        assert accessibility_faults(page) == []
        expect(page.locator("main").get_by_role("link", name="Search")).to_be_visible()


# Playwright itself waits while a page is on its way: the page that is still there tells what it shows.
TELLING = """
    new MutationObserver(() => console.log(['main', 'h1', '.busy'].map(
        (name) => name === 'main' ? document.querySelector(name).ariaBusy : document.querySelector(name).innerText
    ).join(' | '))).observe(document.querySelector('.busy'), {childList: true})
"""


def test_old_results_stay_until_there_are_new_ones(page: Page, served_file: Served) -> None:
    page.goto(served_file.url("/search?words=mill"))
    page.evaluate(TELLING)
    page.get_by_label("Words, a URL or a paragraph").fill("harbour")
    with page.expect_console_message() as told:
        served_file.process.send_signal(signal.SIGSTOP)
        page.get_by_role("button", name="Search").dispatch_event("click")
    served_file.process.send_signal(signal.SIGCONT)
    assert re.fullmatch(r"true \| 11 pages in 7 groups.* \| Loading: \d+ s", told.value.text)
    expect(page.locator("h1")).to_have_text(re.compile("^4 pages in 1 group"))
    page.go_back()
    expect(page.locator("h1")).to_have_text(re.compile("^11 pages in 7 groups"))
    expect(page.locator("main")).not_to_have_attribute("aria-busy", "true")
    expect(page.locator(".busy")).to_be_hidden()
