"""The comparison of texts with ten thousand passages: each page is small, and every passage is on one of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from opensearch_winnow import Index, Page as CrawledPage
from opensearch_winnow.mappings.record import capture_id
from opensearch_winnow.web.texts.shown_passages import MAX_PASSAGES
from tests.web.known_crawl_fixture import paragraph
from tests.web.served_fixture import Served, serving

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]
NAMES = ("many", "reversed", "long", "copy", "other")
MANY, REVERSED, LONG, COPY, OTHER = (f"http://{name}.example/" for name in NAMES)
LARGEST = 3_000_000  # bytes of HTML
SHARED = 10_000


def pair(a: str, b: str) -> str:
    return f"/compare/{capture_id(a, None)}/{capture_id(b, None)}"


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    shared = [paragraph(f"shared {number}", 30) for number in range(SHARED)]
    ours, theirs = (
        "\n".join(f"{each}\n{paragraph(f'{name} {at}', 40)}" for at, each in enumerate(order))
        for name, order in (("ours", shared), ("theirs", reversed(shared)))
    )
    long = "\n".join(paragraph(f"long {number}", 400) for number in range(2_000))
    assert len(ours) > 4_500_000
    assert len(long) > 4_500_000
    store = tmp_path_factory.mktemp("large") / "large.winnow"
    texts = {MANY: ours, REVERSED: theirs, LONG: long, COPY: f"{long}.", OTHER: paragraph("long 1000", 400)}
    with Index.open(store) as index:
        assert index.add([CrawledPage(url, text=text) for url, text in texts.items()]).indexed == len(texts)
    with serving(Path(store)) as found:
        yield found


def test_every_passage_is_on_a_page(large: Served) -> None:
    path = pair(MANY, REVERSED)
    every = large.json(f"/api/v1{path}")["passages"]
    assert len(every) == SHARED
    address = path
    numbers: list[int] = []
    for _ in range(3):  # the others are made in the same way
        page = large.get(address).text
        assert len(page) < LARGEST
        _, a, b = page.split('<div class="text"')
        ours, theirs = re.findall(r' id="p(\d+)"', a), re.findall(r' id="b(\d+)"', b)
        assert sorted(theirs, key=int) == ours
        assert len(ours) <= MAX_PASSAGES
        numbers += map(int, ours)
        (address,) = re.findall(r'rel="next" href="([^"]+)"', page)
    assert numbers == [each["number"] for each in every[: len(numbers)]]
    last = large.get(f"{path}?from={every[-1]['number']}").text
    assert f' id="p{every[-1]["number"]}"' in last
    assert 'rel="next"' not in last


def test_a_passage_of_another_page_is_a_link_to_it(page: Page, large: Served) -> None:
    path = pair(MANY, REVERSED)
    page.goto(large.url(f"{path}?from=5000#p5000"))
    expect(page.locator("[role=status]", has_text="Passage")).to_have_text(f"Passage 5,000 of {SHARED:,}")
    expect(page.locator("#p5000")).to_be_in_viewport()
    expect(page.locator("#b5000")).to_be_in_viewport()
    elsewhere = page.locator(".pane a.n:not([id])").first
    number = elsewhere.text_content()  # it need not be laid out
    elsewhere.click()
    expect(page).to_have_url(re.compile(f"from={number}#p{number}$"))
    expect(page.locator(f"#p{number}")).to_be_in_viewport()


def test_keys_go_on_to_the_next_page_and_from_the_last_to_the_first(page: Page, large: Served) -> None:
    path = pair(MANY, REVERSED)
    last = len(large.json(f"/api/v1{path}")["passages"])
    page.goto(large.url(path))
    page.keyboard.press("p")
    expect(page.locator(f"#p{MAX_PASSAGES}")).to_be_in_viewport()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(f"from={MAX_PASSAGES + 1}#p{MAX_PASSAGES + 1}$"))
    expect(page.locator(f"#p{MAX_PASSAGES + 1}.n")).to_be_in_viewport()
    page.goto(large.url(f"{path}?from={last}#p{last}"))
    expect(page.locator("[role=status]", has_text="Passage")).to_be_visible()
    page.keyboard.press("n")
    expect(page).to_have_url(re.compile(r"/[0-9a-f]{32}#p1$"))


@pytest.mark.parametrize(("a", "b"), [(LONG, COPY), (LONG, OTHER), (OTHER, LONG), (LONG, MANY), (MANY, REVERSED)])
@pytest.mark.parametrize("view", ["passages", "differences"])
def test_megabytes_make_a_small_page_that_says_what_is_left_out(large: Served, a: str, b: str, view: str) -> None:
    reply = large.get(pair(a, b) if view == "passages" else f"{pair(a, b)}?view={view}")
    assert reply.status == 200
    assert len(reply.body) < LARGEST
    left = sum(int(each.replace(",", "")) for each in re.findall(r"([\d,]+) characters left out", reply.text))
    if a == MANY:
        assert left
    elif view == "passages":
        assert left > 4_000_000
