"""The cluster screen."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.operations.clusters.cluster_details import MAX_CAPTURES_COUNTED
from opensearch_winnow.queries.compare import compare
from opensearch_winnow.web.app import make_app
from opensearch_winnow.web.one_request import one_request
from opensearch_winnow.web.served import ServedStore
from tests.web.conftest import Serve, made
from tests.web.known_clusters import FIRST, MILL_PAGES, heading, lowest_by_force, rows, text_of
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
    assert heading(reply) == f"4 pages on 4 sites, at least {both.resemblance:.0%} alike".replace("%", " %")
    assert "Every page resembles the representative by 50 % or more" in reply.text


def test_scores_are_those_of_the_comparison(served_file: Served) -> None:
    found = served_file.json(f"/cluster/{FIRST}.json")
    for each in found["listed_pages"][1:]:
        compared = served_file.json(f"/api/v1/compare/{FIRST}/{each['id']}")
        assert {name: each["likeness"][name] for name in ("resemblance", "containment", "contained")} == {
            name: pytest.approx(compared[name]) for name in ("resemblance", "containment", "contained")
        }
    assert [len(row) for row in found["matrix"]] == [0, 1, 2, 3]
    for row, shares in enumerate(found["matrix"]):
        for column, share in enumerate(shares):
            assert share == pytest.approx(compare(text_of(MILL_PAGES[column]), text_of(MILL_PAGES[row])).resemblance)


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
    assert [(a, b) for _, a, b, _ in cells] == [
        (MILL_PAGES[column], MILL_PAGES[row]) for row in range(4) for column in range(row)
    ]
    for step, a, b, share in cells:
        assert unescape(share) == f"{100 * compare(text_of(a), text_of(b)).resemblance:.0f}"
        assert int(step) == int(10 * compare(text_of(a), text_of(b)).resemblance)


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
        assert "<bdi>mirror.example</bdi></li>" in text  # the colours of the sites


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
    shared = served_file.json(f"/cluster/{FIRST}.json")["shared"]
    text = text_of(FIRST)
    assert (shared["pages"], shared["characters"], shared["cut"]) == (3, len(text), False)
    runs = shared["runs"]
    assert [runs[0][0], runs[-1][1]] == [0, len(text)]
    assert all(before[1] == after[0] and before[2] != after[2] for before, after in pairwise(runs))
    for start, end, pages in runs:
        words = text[start:end].lower().split()[1:-1]
        have = sum(" ".join(words) in " ".join(text_of(each).lower().split()) for each in MILL_PAGES[1:])
        assert have >= pages
    # Six of eight paragraphs are on all of them.
    everywhere = sum(end - start for start, end, pages in runs if pages == 3)
    assert shared["in_all"] == pytest.approx(everywhere / len(text))
    assert everywhere == pytest.approx(len("\n\n".join(text.split("\n\n")[:6])), abs=20)


def test_a_member_shows_its_cluster(served: Served) -> None:
    assert served.json(f"/cluster/{IDS[NEAR]}.json") == served.json(f"/cluster/{FIRST}.json")
    reply = served.get(f"/cluster/{IDS[NEAR]}")
    assert f'<a href="/cluster/{FIRST}">' in reply.text


def test_a_page_that_is_alone(served: Served) -> None:
    reply = served.get(f"/cluster/{IDS[ALONE[0]]}")
    assert heading(reply) == "No near-duplicates: this page is alone in its cluster"
    assert f"/page/{IDS[ALONE[0]]}" in reply.text
    found = served.json(f"/cluster/{IDS[ALONE[0]]}.json")
    assert (found["pages"], found["lowest"], found["shared"], found["matrix"]) == (1, None, None, [[]])


def test_a_cluster_that_is_not_there(served: Served) -> None:
    for unknown in ("0" * 32, "x"):
        reply = served.get(f"/cluster/{unknown}")
        assert reply.status == 404
        assert '<a href="/clusters">' in reply.text
        assert served.get(f"/api/v1/clusters/{unknown}").status == 404


def test_lists_of_members(served: Served) -> None:
    lists = [served.json(f"/cluster/{FIRST}.json?limit=3&page={page}") for page in (1, 2, 3)]
    assert [each["id"] for found in lists for each in found["listed_pages"]] == MILL_PAGES
    assert [found["following"] for found in lists] == [True, False, False]
    assert all(found["lowest"] == lists[0]["lowest"] for found in lists)
    assert [each["id"] for each in rows(served.get(f"/cluster/{FIRST}.csv"))] == MILL_PAGES


def test_members_are_in_the_order_of_resemblance(served_file: Served) -> None:
    found = served_file.json(f"/cluster/{IDS[HARBOUR]}.json")
    assert [each["url"] for each in found["listed_pages"]] == [HARBOUR, *HARBOURS]
    shares = [each["likeness"]["resemblance"] for each in found["listed_pages"]]
    assert shares == sorted(shares, reverse=True)


def test_a_representative_that_is_gone(own_file: Path) -> None:
    with Index.open(own_file) as index:
        index.store.delete([FIRST])
        cards = index.cluster_pages(FIRST)
        found = index.cluster_details(cards, limit=10)
    assert found.id == FIRST
    assert found.representative.id == EARLIER[1]  # the earliest that is left
    assert [each.captures for each in found] == [3, 1, 1, 1]


@pytest.mark.check
def test_a_cluster_of_thousands_says_what_was_looked_at(tmp_path: Path) -> None:
    def pages() -> Iterator[Page]:
        for number in range(MAX_CAPTURES_COUNTED + 5):
            yield Page(
                f"https://{number % 50}.example/{number}", text=f"The same few words on many a page, number {number}."
            )

    with Index.open(tmp_path / "many.winnow") as index:
        index.add(pages())
        ids = [card.id for card in index.store.scan(Card)]
        index.store.set_clusters(dict.fromkeys(ids, ids[0]))
    serving = ServedStore.named(str(tmp_path / "many.winnow"))
    status, body = one_request(make_app(serving), f"/cluster/{ids[0]}")
    assert status == 200
    text = body.decode()
    assert "<h1>2,000 pages or more on 50 sites or more, at least " in text
    assert " alike among 40 of them</h1>" in text
    assert "Compared: 40 of the pages, from the most to the least similar." in text
    status, body = one_request(make_app(serving), f"/cluster/{ids[0]}.json?page=20")
    found = json.loads(body)
    assert [each["number"] for each in found["listed_pages"]] == list(range(1_901, 2_001))
    assert (found["pages"], found["urls"], found["more"], found["following"]) == (2_000, 2_000, True, False)
    numbers = [each["number"] for each in found["compared_pages"]]
    assert (found["compared"], len(found["matrix"]), numbers[0], numbers[-1]) == (40, 40, 1, 2_000)
    assert numbers == sorted(set(numbers))
    status, body = one_request(make_app(serving), f"/cluster/{ids[0]}?page=20")
    assert "Only the first 2,000 captures of the cluster are listed." in body.decode()


@pytest.mark.check
def test_texts_that_are_not_stored_are_estimated(tmp_path: Path, serve: Serve) -> None:
    from opensearch_winnow.cli import main  # noqa: PLC0415

    source = tmp_path / "pages.jsonl"
    source.write_text("".join(json.dumps({"url": page.url, "text": page.text}) + "\n" for page in PAGES[11:15]))
    store = tmp_path / "textless.winnow"
    with pytest.raises(SystemExit):
        main(["index", str(source), "--store", str(store), "--no-text", "--quiet"])
    with Index.open(store) as index:
        index.cluster()
        (cluster,) = index.clusters()
    served = serve(store)
    found = served.json(f"/cluster/{cluster.cluster}.json")
    assert {each["likeness"]["kind"] for each in found["listed_pages"]} == {"estimate"}
    exact = lowest_by_force([IDS[url] for url in (HARBOUR, *HARBOURS)])
    assert abs(found["lowest"]["likeness"]["resemblance"] - exact) < 5 * found["lowest"]["likeness"]["error"]
    assert "≈" in heading(served.get(f"/cluster/{cluster.cluster}"))
    assert found["shared"] is None
