"""None of many scripts runs, wherever it comes from: in titles, URLs, texts, names and questions, on every screen."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from itertools import cycle, islice
from pathlib import Path
from urllib.parse import quote

import pytest
from click.testing import CliRunner
from playwright.sync_api import expect

from opensearch_winnow import Index, Page as CrawledPage
from opensearch_winnow.cli import main
from opensearch_winnow.mappings.record import capture_id
from opensearch_winnow.web.app import SCREENS
from tests.web.addresses_fixture import SHOWN, screen_at
from tests.web.browser_fixture import NewPage, Witness, scrolls_sideways
from tests.web.conftest import made, name_of_kind
from tests.web.known_crawl_fixture import at, paragraphs
from tests.web.served_fixture import Served, serving
from tests.web.test_home import counted
from tests.web.xss_vectors import ADDRESSES, FORMULAS, VECTORS

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
BODY = paragraphs("evil", 4)
URLS = [*ADDRESSES, *(f"https://evil.example/{number}/{vector}" for number, vector in enumerate(VECTORS))]
PAGES = [
    *(
        CrawledPage(
            url,
            text="\n\n".join((vector, *BODY[: 2 + number % 3], vector, "evil", str(number))),
            title=vector,
            fetched_at=at(1 + number % 12),
        )
        for number, (url, vector) in enumerate(zip(URLS, cycle([*VECTORS, *FORMULAS]), strict=False))
    ),
    CrawledPage("https://evil.example/wide", text=f"evil {'x' * 1_000_000}", title="y" * 5_000, fetched_at=at(9)),
    CrawledPage(
        f"https://user:secret@evil.example:99999/\u202e\ud800{'z' * 3_000}",
        text=f"\u2066\u200b \x1b[2J \x85 \ud800 \U000e0041 {BODY[0]}",
        title="evil " * 5_000,
        fetched_at=at(10),
    ),
]
IDS = [capture_id(page.url, page.fetched_at) for page in PAGES]
NAMES = [vector[:100] for vector in islice(VECTORS, 0, None, 4)]
SCREEN_ADDRESSES = {
    "home": "/",
    "search": "/search?words=evil&limit=100",
    "search-ungrouped": "/search?words=evil&group=off&limit=100",
    "search-ungrouped-2": "/search?words=evil&group=off&limit=100&page=2",
    "search-by-cluster": "/search?words=evil&by=cluster&limit=100",
    "page": f"/page/{IDS[0]}?min_containment=0&limit=500",
    "page-with-markup": f"/page/{IDS[len(ADDRESSES)]}",
    "page-wide": f"/page/{IDS[-2]}",
    "page-long-address": f"/page/{IDS[-1]}",
    "history": f"/page/{IDS[1]}/history",
    "versions": f"/page/{IDS[1]}/versions",
    "locate": f"/page/{IDS[1]}/locate",
    "compare": f"/compare/{IDS[20]}/{IDS[40]}",
    "compare-differences": f"/compare/{IDS[20]}/{IDS[40]}?view=differences",
    "compare-wide": f"/compare/{IDS[20]}/{IDS[-2]}",
    "clusters": "/clusters?min_urls=1",
    "cluster": f"/cluster/{IDS[0]}",
    "changes": "/changes?from=2024-05&to=2024-12&limit=500",
    "statistics": "/statistics",
    "watches": "/watches?limit=100",
    "watches-2": "/watches?limit=100&page=2",
    "watch-log": "/watches/log?limit=100",
    "paste": "/paste",
    "api": "/api",
}
# Where a question is repeated: in fields, headings, links and refusals.
TYPED_ADDRESSES = {
    "words": "/search?words={}",
    "filters": "/search?words=mill&site={0}&crawl={0}",
    "number": "/search?words=mill&min_resemblance={}",
    "parameter": "/search?{}=1",
    "page": "/page/{}",
    "cluster-site": "/clusters?site={}",
    "changes": "/changes?from=2024-05&to=2024-12&site={}",
    "changes-crawl": "/changes?from={0}&to={0}",
    "watch": "/watches?watch={}",
    "path": "/{}",
}
SAFE = {"noopener", "noreferrer", "nofollow"}  # the rel of links to elsewhere
UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Inert(HTMLParser):
    """Complains about elements and attributes that our pages do not have."""

    ELEMENTS = frozenset(("iframe", "object", "embed", "base", "img", "image", "math", "template", "portal", "video"))

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag in self.ELEMENTS or (tag == "meta" and "http-equiv" in values) or "style" in values:
            self.found.append(f"<{tag}>")
        if tag == "script" and not re.match(r"/static/\w+\.js(\?\w+)?\Z", values.get("src") or ""):
            self.found.append("<script>")
        if re.match("https?:", values.get("href") or "") and not set((values.get("rel") or "").split()) >= SAFE:
            self.found.append(f"<{tag} rel={values.get('rel')}>")
        for name, value in attrs:
            is_link = name in ("href", "src", "action", "formaction", "xlink:href")
            if name.startswith("on") or (is_link and not re.match(r"/(?!/)|#|\?|https?://|\Z", value or "")):
                self.found.append(f"{tag} {name}={value}")


def markup_found(html: str) -> list[str]:
    parser = Inert()
    parser.feed(html)
    parser.close()
    return parser.found


@pytest.fixture(scope="module", params=["file", pytest.param("engine", marks=pytest.mark.soak)])
def new_name(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> str:
    return name_of_kind(request, tmp_path_factory)


@pytest.fixture(scope="module")
def attacked(new_name: str) -> Iterator[Served]:
    made(new_name, PAGES)
    with Index.open(new_name) as index:
        for name in NAMES:
            index.add_watch(name, text="\n\n".join(BODY), seen=False)
            index.add_boilerplate(name, f"{name} {paragraphs('ground', 1)[0]}")
    with serving(new_name, "--write") as found:
        counted(found)  # until then, the first screen loads again every two seconds
        yield found


def test_there_are_many() -> None:
    assert len(VECTORS) == len(set(VECTORS)) > 110
    assert {screen_at(address).name for address in SCREEN_ADDRESSES.values()} == {screen.name for screen in SHOWN}


@pytest.mark.parametrize("address", SCREEN_ADDRESSES.values(), ids=SCREEN_ADDRESSES.keys())
def test_screens_as_html(attacked: Served, address: str) -> None:
    reply = attacked.get(address)
    assert reply.status == 200
    assert not markup_found(reply.text)


@pytest.mark.parametrize("address", TYPED_ADDRESSES.values(), ids=TYPED_ADDRESSES.keys())
def test_what_is_typed_as_html(served_file: Served, address: str) -> None:
    for vector in VECTORS:
        reply = served_file.get(address.format(quote(vector, safe="")))
        assert not markup_found(reply.text), vector
        leads_to = reply.headers.get("location", "/").removeprefix(served_file.address)
        assert re.match(r"/(?![/\\])", leads_to), vector


@pytest.mark.parametrize(
    "bypass_csp", [True, pytest.param(False, marks=pytest.mark.soak)], ids=["without-policy", "with-policy"]
)
@pytest.mark.parametrize("address", SCREEN_ADDRESSES.values(), ids=SCREEN_ADDRESSES.keys())
def test_screens_in_a_browser(new_page: NewPage, attacked: Served, address: str, bypass_csp: bool) -> None:
    """The page fails on a dialog, a violation of the policy, and a request to elsewhere; without the policy as well."""
    page = new_page(bypass_csp=bypass_csp)
    page.goto(attacked.url(address))
    expect(page.locator("h1")).to_have_count(1)
    page.evaluate("for (const each of document.querySelectorAll('details')) each.open = true")
    page.mouse.move(300, 300)
    page.locator("[type=hidden]").evaluate_all("all => all.forEach(each => each.remove())")  # which are as they were
    assert not UNSEEN.search(page.content())
    page.set_viewport_size({"width": 320, "height": 640})
    assert not scrolls_sideways(page)


@pytest.mark.parametrize(
    "address",
    [
        pytest.param("/search?words={}", id="words"),
        pytest.param("/page/{}", id="page", marks=pytest.mark.soak),
        pytest.param("/{}", id="path", marks=pytest.mark.soak),
    ],
)
def test_what_is_typed_in_a_browser(new_page: NewPage, witness: Witness, served_file: Served, address: str) -> None:
    witness.allowed.append("Failed to load resource: the server responded with a status of 4")
    page = new_page(bypass_csp=True)
    for vector in VECTORS:
        page.goto(served_file.url(address.format(quote(vector, safe=""))))


def test_what_is_shown_and_typed_can_be_read(new_page: NewPage, attacked: Served) -> None:
    page, typed = new_page(), f'{VECTORS[0]}"><img src=x onerror=alert(1)> evil'
    page.goto(attacked.url("/search?words=evil&group=off&limit=100"))
    shown = page.locator("main").inner_text()
    assert sum(vector in shown for vector in VECTORS) > 50
    page.goto(attacked.url(f"/compare/{IDS[len(ADDRESSES)]}/{IDS[40]}"))
    assert VECTORS[len(ADDRESSES)] in page.locator(".pane").first.inner_text()
    page.goto(attacked.url(f"/search?words={quote(typed)}&site={quote(typed)}"))
    expect(page.get_by_label("Words, a URL or a paragraph")).to_have_value(typed)
    expect(page.get_by_label("Site")).to_have_value(typed)


def test_scripts_of_ours_show_it_as_text(new_page: NewPage, attacked: Served) -> None:
    """Suggestions, a pasted text and the answers of the API are put into the page by scripts."""
    page = new_page(bypass_csp=True)
    page.goto(attacked.url("/"))
    page.get_by_label("Words, a URL or a paragraph").press_sequentially("https://evil.example/1")
    expect(page.locator("#suggestions > *").first).to_be_visible()
    page.goto(attacked.url("/paste"))
    page.locator("textarea").fill("\n\n".join((*VECTORS, *BODY)).replace("\0", ""))
    page.get_by_role("button", name="Find pages").click()
    page.wait_for_url("**/paste/*")
    assert BODY[0][:60] in page.locator("main").inner_text()
    assert not markup_found(page.content())
    page.goto(attacked.url("/api"))
    page.locator("form button[type=submit]").first.evaluate("button => button.click()")


def test_reports_in_a_browser(new_page: NewPage, witness: Witness, attacked: Served, tmp_path: Path) -> None:
    """The HTML of a comparison, and the plot of cluster sizes."""
    witness.allowed.append(f"request to elsewhere: {tmp_path.as_uri()}/")
    for number, (a, b) in enumerate(((20, 40), (60, 90))):
        out = tmp_path / f"{number}.html"
        command = ["compare", PAGES[a].url, PAGES[b].url, "--store", attacked.store, "--html", str(out)]
        done = CliRunner().invoke(main, command, catch_exceptions=False)
        assert done.exit_code == 0, done.output
        html = out.read_text(encoding="utf-8")
        assert [each for each in markup_found(html) if each != "<meta>"] == []
        new_page().goto(out.as_uri())
    plot = tmp_path / "plot.svg"
    done = CliRunner().invoke(main, ["cluster", "--store", attacked.store, "--plot", str(plot)], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    assert "<img" not in plot.read_text(encoding="utf-8")
    new_page().goto(plot.as_uri())


TABLES = [screen for screen in SCREENS if screen.has_table]


def test_no_table_has_a_formula(attacked: Served) -> None:
    values = {"id": IDS[0], "a": IDS[20], "b": IDS[40]}
    seen: set[str] = set()
    for screen in TABLES:
        if not screen.path or screen.name == "pasted":
            continue
        query = "?words=evil&group=off&limit=100" if screen.name == "search" else ""
        for page in ("", "&page=2") if query else ("",):
            reply = attacked.get(f"{screen.path.format(**values)}.csv{query}{page}")
            assert reply.status == 200, screen.name
            cells = [cell for row in csv.reader(io.StringIO(reply.text, newline="")) for cell in row]
            assert not [
                cell for cell in cells if cell.startswith(("=", "+", "@", "\t", "\r", "\n", "＝", "＋", "＠", "－"))
            ]
            assert not [cell for cell in cells if re.match(r"-(?![\d.]+\Z)", cell)]
            seen.update(cells)
    assert {f"'{formula}" for formula in FORMULAS} <= seen
    assert attacked.get("/search.json?words=evil").headers["content-type"] == "application/json"
