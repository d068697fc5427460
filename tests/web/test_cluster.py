"""The cluster screen."""

from __future__ import annotations

import json
import re
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.clusters.cluster_details import MAX_CAPTURES_COUNTED
from opensearch_winnow.queries.compare import compare
from opensearch_winnow.web.app import make_app
from opensearch_winnow.web.one_request import one_request
from opensearch_winnow.web.served import ServedStore
from tests.web.conftest import Serve, made
from tests.web.known_clusters import FIRST, MILL_PAGES, lowest_by_force, text_of
from tests.web.known_crawl_fixture import ALONE, EARLIER, HARBOUR, HARBOURS, IDS, NEAR, PAGES, at, paragraph, paragraphs
from tests.web.served_fixture import Served


def test_a_cluster(served: Served) -> None:
    found = served.json(f"/api/v1/clusters/{FIRST}")
    assert [each["id"] for each in found["listed_pages"]] == MILL_PAGES
    assert [each["number"] for each in found["listed_pages"]] == [1, 2, 3, 4]
    assert [each["captures"] for each in found["listed_pages"]] == [4, 1, 1, 1]
    assert [found[name] for name in ("pages", "urls", "sites", "texts", "pairs")] == [7, 4, 4, 3, 6]
    pair = found["lowest"]
    assert pair["likeness"]["resemblance"] == pytest.approx(lowest_by_force(MILL_PAGES))
    both = compare(text_of(pair["a"]["id"]), text_of(pair["b"]["id"]))
    assert pair["likeness"]["resemblance"] == pytest.approx(both.resemblance)
    assert [each["same_text"] for each in found["listed_pages"]] == [True, False, False, False]
    reply = served.get(f"/cluster/{FIRST}")
    assert reply.heading == f"4 pages on 4 sites, at least {both.resemblance:.0%} alike".replace("%", " %")
    assert "Every page resembles the representative by 50 % or more" in reply.text


def test_scores_are_those_of_the_comparison(served_file: Served) -> None:
    found = served_file.json(f"/cluster/{FIRST}.json")
    names = ("resemblance", "containment", "contained")
    for each in found["listed_pages"][1:]:
        compared = served_file.json(f"/api/v1/compare/{FIRST}/{each['id']}")
        assert [each["likeness"][name] for name in names] == pytest.approx([compared[name] for name in names])
    assert found["matrix"] == [
        pytest.approx([compare(text_of(MILL_PAGES[column]), text_of(page)).resemblance for column in range(row)])
        for row, page in enumerate(MILL_PAGES)
    ]


def test_a_threshold_counts_the_pairs_below_it(served_file: Served) -> None:
    shares = [share for row in served_file.json(f"/cluster/{FIRST}.json")["matrix"] for share in row]
    for threshold in (0.5, 0.6, 0.77, 1):
        found = served_file.json(f"/cluster/{FIRST}.json?threshold={threshold}")
        assert found["below"] == sum(share < threshold for share in shares)
    assert served_file.json(f"/cluster/{FIRST}.json")["threshold"] == 0.5  # as it was clustered


def test_a_cell_leads_to_its_comparison(served_file: Served) -> None:
    text = served_file.get(f"/cluster/{FIRST}").text
    (table,) = re.findall(r'<table class="matrix">.*?</table>', text, re.DOTALL)
    cells = re.findall(r'<td class="h(\d+)"><a href="/compare/(\w+)/(\w+)">([^<]+)</a>', table)
    assert [(int(step), a, b, unescape(share)) for step, a, b, share in cells] == [
        (int(10 * share), MILL_PAGES[column], MILL_PAGES[row], f"{100 * share:.0f}")
        for row, shares in enumerate(served_file.json(f"/cluster/{FIRST}.json")["matrix"])
        for column, share in enumerate(shares)
    ]


def test_the_graph_has_each_page_and_each_pair(served_file: Served) -> None:
    shares = served_file.json(f"/cluster/{FIRST}.json")["matrix"]
    for threshold in (0.5, 0.7, 1):
        text = served_file.get(f"/cluster/{FIRST}?threshold={threshold}").text
        (graph, *_) = re.findall(r'<svg class="graph".*?</svg>', text, re.DOTALL)
        assert re.findall(r'href="/page/(\w+)"', graph) == MILL_PAGES
        assert set(re.findall(r'href="/compare/(\w+)/(\w+)"', graph)) == {
            (MILL_PAGES[column], MILL_PAGES[row])
            for row, row_shares in enumerate(shares)
            for column, share in enumerate(row_shares)
            if share >= threshold
        }


@pytest.mark.parametrize(
    ("threshold", "sentence"),
    [
        (0.5, "Every two pages resemble each other by 50 % or more."),
        (0.75, "At 75 %, these are 2 parts: 3 pages and 1 page."),
        (1, "At 100 %, these are 3 parts: 2 pages, 1 page and 1 page."),
    ],
)
def test_whether_a_cluster_is_one_family(served_file: Served, threshold: float, sentence: str) -> None:
    assert sentence in served_file.get(f"/cluster/{FIRST}?threshold={threshold}").text


def test_two_families_that_one_page_holds_together(tmp_path: Path, serve: Serve) -> None:
    parts = paragraphs("whole", 10)
    halves = [("first", parts[:7]), ("second", parts[:7]), ("third", parts[3:]), ("fourth", parts[3:])]
    pages = [Page("https://a.example/whole", text="\n\n".join(parts), fetched_at=at(1))]
    for name, half in halves:
        text = "\n\n".join([*half, *paragraphs(f"rest {half[0]}", 2), paragraph(name)])
        pages.append(Page(f"https://a.example/{name}", text=text, fetched_at=at(2)))
    served = serve(made(tmp_path / "two.winnow", pages))
    (line,) = served.json("/clusters.json")["clusters"]
    found = served.json(f"/cluster/{line['id']}.json")
    assert (found["parts"], found["joined_by"]) == ([5], [{"number": 1, "parts": [2, 2]}])
    shown = served.get(f"/cluster/{line['id']}").text
    assert "Without page 1, this would fall into 2 parts: 2 pages and 2 pages." in shown


def test_the_shared_text(served_file: Served) -> None:
    shared, text = served_file.json(f"/cluster/{FIRST}.json")["shared"], text_of(FIRST)
    assert (shared["pages"], shared["characters"], shared["cut"]) == (3, len(text), False)
    runs = shared["runs"]
    assert [runs[0][0], runs[-1][1]] == [0, len(text)]
    assert all(before[1] == after[0] and before[2] != after[2] for before, after in pairwise(runs))
    for start, end, pages in runs:
        words = " ".join(text[start:end].lower().split()[1:-1])
        assert sum(words in " ".join(text_of(each).lower().split()) for each in MILL_PAGES[1:]) >= pages
    everywhere = sum(end - start for start, end, pages in runs if pages == 3)
    assert shared["in_all"] == pytest.approx(everywhere / len(text))
    assert everywhere == pytest.approx(len("\n\n".join(text.split("\n\n")[:6])), abs=20)  # paragraphs, of eight


def test_a_member_shows_its_cluster(served: Served) -> None:
    assert served.json(f"/cluster/{IDS[NEAR]}.json") == served.json(f"/cluster/{FIRST}.json")
    assert f'<a href="/cluster/{FIRST}">' in served.get(f"/cluster/{IDS[NEAR]}").text


def test_a_page_that_is_alone(served: Served) -> None:
    reply = served.get(f"/cluster/{IDS[ALONE[0]]}")
    assert reply.heading == "No near-duplicates: this page is alone in its cluster"
    found = served.json(f"/cluster/{IDS[ALONE[0]]}.json")
    assert (found["pages"], found["lowest"], found["shared"], found["matrix"]) == (1, None, None, [[]])


def test_lists_of_members(served: Served) -> None:
    lists = [served.json(f"/cluster/{FIRST}.json?limit=3&page={page}") for page in (1, 2, 3)]
    assert [each["id"] for found in lists for each in found["listed_pages"]] == MILL_PAGES
    assert [found["following"] for found in lists] == [True, False, False]
    assert all(found["lowest"] == lists[0]["lowest"] for found in lists)
    assert [each["id"] for each in served.get(f"/cluster/{FIRST}.csv").rows] == MILL_PAGES


def test_a_representative_that_is_gone(own_file: Path) -> None:
    with Index.open(own_file) as index:
        index.store.delete([FIRST])
        found = index.cluster_details(index.cluster_pages(FIRST), limit=10)
    assert found.id == FIRST
    assert found.representative.id == EARLIER[1]  # the earliest that is left
    assert [each.captures for each in found] == [3, 1, 1, 1]


@pytest.mark.check
def test_a_cluster_of_thousands_says_what_was_looked_at(tmp_path: Path) -> None:
    pages = [
        Page(f"https://{number % 50}.example/{number}", text=f"The same few words on many a page, number {number}.")
        for number in range(MAX_CAPTURES_COUNTED + 5)
    ]
    with Index.open(tmp_path / "many.winnow") as index:
        index.add(pages)
        ids = [card.id for card in index.store.scan(Card)]
        index.store.set_clusters(dict.fromkeys(ids, ids[0]))
    store = ServedStore.named(str(tmp_path / "many.winnow"))

    def shown(query: str) -> str:
        status, body = one_request(make_app(store), f"/cluster/{ids[0]}{query}")
        assert status == 200
        return body.decode()

    text = shown("")
    assert "<h1>2,000 pages or more on 50 sites or more, at least " in text
    assert " alike among 40 of them</h1>" in text
    found = json.loads(shown(".json?page=20"))
    assert [each["number"] for each in found["listed_pages"]] == list(range(1_901, 2_001))
    assert (found["pages"], found["urls"], found["more"], found["following"]) == (2_000, 2_000, True, False)
    numbers = [each["number"] for each in found["compared_pages"]]
    assert (found["compared"], len(found["matrix"]), numbers[0], numbers[-1]) == (40, 40, 1, 2_000)
    assert numbers == sorted(set(numbers))
    assert "first 2,000 captures" in shown("?page=20")


@pytest.mark.check
def test_texts_that_are_not_stored_are_estimated(tmp_path: Path, serve: Serve) -> None:
    served = serve(made(tmp_path / "textless.winnow", PAGES[11:15], with_text=False))
    path = f"/cluster/{IDS[HARBOUR]}"
    found = served.json(f"{path}.json")
    assert {each["likeness"]["kind"] for each in found["listed_pages"]} == {"estimate"}
    exact = lowest_by_force([IDS[url] for url in (HARBOUR, *HARBOURS)])
    assert abs(found["lowest"]["likeness"]["resemblance"] - exact) < 5 * found["lowest"]["likeness"]["error"]
    assert "≈" in served.get(path).heading
    assert found["shared"] is None
