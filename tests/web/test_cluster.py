"""The screen of one cluster."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from html import unescape
from itertools import pairwise
from pathlib import Path

import pytest

from opensearch_winnow.answers.cluster_document import MAX_PAGES_COUNTED
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.compare import compare
from opensearch_winnow.web.app import Serving, make_app
from opensearch_winnow.web.one_request import one_request
from tests.web.conftest import Serve
from tests.web.known_clusters import FIRST, IN_MILL, heading, lowest_by_force, rows, text_of
from tests.web.known_crawl_fixture import ALONE, HARBOUR, HARBOURS, IDS, NEAR, PAGES
from tests.web.served_fixture import Served


def test_a_cluster(served: Served) -> None:
    found = served.json(f"/api/v1/clusters/{FIRST}")
    assert [each["id"] for each in found["members"]] == IN_MILL
    assert [each["number"] for each in found["members"]] == list(range(1, 8))
    assert (found["pages"], found["sites"], found["texts"], found["pairs"]) == (7, 4, 4, 21)
    pair = found["lowest"]
    assert pair["likeness"]["resemblance"] == pytest.approx(lowest_by_force(IN_MILL))
    both = compare(text_of(pair["a"]["id"]), text_of(pair["b"]["id"]))
    assert pair["likeness"]["resemblance"] == pytest.approx(both.resemblance)
    assert [each["same_text"] for each in found["members"]] == [True, True, False, False, False, False, False]
    reply = served.get(f"/cluster/{FIRST}")
    assert heading(reply) == f"7 pages on 4 sites · lowest pair {both.resemblance:.0%}".replace("%", " %")
    assert "Every page resembles the representative by 50 % or more" in reply.text


def test_scores_are_those_of_the_comparison(served_file: Served) -> None:
    found = served_file.json(f"/cluster/{FIRST}.json")
    for each in found["members"][1:]:
        compared = served_file.json(f"/api/v1/compare/{FIRST}/{each['id']}")
        assert {name: each["likeness"][name] for name in ("resemblance", "containment", "contained")} == {
            name: pytest.approx(compared[name]) for name in ("resemblance", "containment", "contained")
        }
    assert [len(row) for row in found["matrix"]] == list(range(7))
    for row, shares in enumerate(found["matrix"]):
        for column, share in enumerate(shares):
            assert share == pytest.approx(compare(text_of(IN_MILL[column]), text_of(IN_MILL[row])).resemblance)


def test_a_threshold_counts_the_pairs_below_it(served_file: Served) -> None:
    shares = [share for row in served_file.json(f"/cluster/{FIRST}.json")["matrix"] for share in row]
    for t in (50, 60, 77, 100):
        found = served_file.json(f"/cluster/{FIRST}.json?t={t}")
        assert found["below"] == sum(share < t / 100 for share in shares)
    assert served_file.json(f"/cluster/{FIRST}.json")["threshold"] == 0.5  # as it was clustered


def test_a_cell_leads_to_its_comparison(served_file: Served) -> None:
    text = served_file.get(f"/cluster/{FIRST}").text
    (picture,) = re.findall(r'<svg class="heatmap".*?</svg>', text, re.DOTALL)
    cells = re.findall(r'href="/compare/(\w+)/(\w+)" tabindex="-1"><title>(\d+) and (\d+): ([^<]+)</title>', picture)
    assert len(cells) == 21
    for a, b, column, row, share in cells:
        assert (a, b) == (IN_MILL[int(column) - 1], IN_MILL[int(row) - 1])
        assert unescape(share) == f"{compare(text_of(a), text_of(b)).resemblance:.0%}".replace("%", " %")
    (table,) = re.findall(r'<table class="matrix">.*?</table>', text, re.DOTALL)
    assert set(re.findall(r'href="/compare/(\w+)/(\w+)"', table)) == {(a, b) for a, b, *_ in cells}


def test_the_shared_text(served_file: Served) -> None:
    shared = served_file.json(f"/cluster/{FIRST}.json")["shared"]
    text = text_of(FIRST)
    assert (shared["pages"], shared["characters"], shared["cut"]) == (6, len(text), False)
    runs = shared["runs"]
    assert [runs[0][0], runs[-1][1]] == [0, len(text)]
    assert all(before[1] == after[0] and before[2] != after[2] for before, after in pairwise(runs))
    for start, end, pages in runs:
        words = text[start:end].lower().split()[1:-1]
        have = sum(" ".join(words) in " ".join(text_of(each).lower().split()) for each in IN_MILL[1:])
        assert have >= pages
    # Six of eight paragraphs are on all of them.
    everywhere = sum(end - start for start, end, pages in runs if pages == 6)
    assert shared["in_all"] == pytest.approx(everywhere / len(text))
    assert everywhere == pytest.approx(len("\n\n".join(text.split("\n\n")[:6])), abs=20)


def test_a_member_shows_its_cluster(served: Served) -> None:
    assert served.json(f"/cluster/{IDS[NEAR]}.json") == served.json(f"/cluster/{FIRST}.json")
    reply = served.get(f"/cluster/{IDS[NEAR]}")
    assert f'<a href="/cluster/{FIRST}">' in reply.text


def test_a_page_that_is_alone(served: Served) -> None:
    reply = served.get(f"/cluster/{IDS[ALONE[0]]}")
    assert heading(reply) == "This page is alone: no other page is in its cluster"
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
    lists = [served.json(f"/cluster/{FIRST}.json?limit=3&page={page}") for page in (1, 2, 3, 4)]
    assert [each["id"] for found in lists for each in found["members"]] == IN_MILL
    assert [found["following"] for found in lists] == [True, True, False, False]
    assert all(found["lowest"] == lists[0]["lowest"] for found in lists)
    assert [each["id"] for each in rows(served.get(f"/cluster/{FIRST}.csv"))] == IN_MILL


def test_a_cluster_of_thousands_says_what_was_looked_at(tmp_path: Path) -> None:
    def pages() -> Iterator[Page]:
        for number in range(MAX_PAGES_COUNTED + 5):
            yield Page(
                f"https://{number % 50}.example/{number}", text=f"The same few words on many a page, number {number}."
            )

    with Index.open(tmp_path / "many.winnow") as index:
        index.add(pages())
        ids = [card.id for card in index.store.scan(Card)]
        index.store.set_clusters(dict.fromkeys(ids, ids[0]))
    serving = Serving(open_index=lambda: Index.open(tmp_path / "many.winnow"), store="many")
    status, body = one_request(make_app(serving), f"/cluster/{ids[0]}")
    assert status == 200
    assert "<h1>More than 2,000 pages on 50 sites or more · lowest pair " in body.decode()
    assert " among the first 60</h1>" in body.decode()
    assert "of which these are the first 40" in body.decode()
    status, body = one_request(make_app(serving), f"/cluster/{ids[0]}.json?page=21")
    found = json.loads(body)
    assert [each["number"] for each in found["members"]] == list(range(2_001, 2_006))
    assert (found["pages"], found["more"], found["compared"], len(found["matrix"])) == (2_000, True, 60, 40)


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
    assert {each["likeness"]["kind"] for each in found["members"]} == {"estimate"}
    exact = lowest_by_force([IDS[url] for url in (HARBOUR, *HARBOURS)])
    assert abs(found["lowest"]["likeness"]["resemblance"] - exact) < 5 * found["lowest"]["likeness"]["error"]
    assert "≈" in heading(served.get(f"/cluster/{cluster.cluster}"))
    assert found["shared"] is None
