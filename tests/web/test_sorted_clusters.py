"""The list of clusters: sorted, filtered, and counted by URL, on every kind of store."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.operations.clusters import cluster_list
from opensearch_winnow.web.app import make_app
from opensearch_winnow.web.one_request import one_request
from opensearch_winnow.web.served import ServedStore
from tests.web.conftest import made
from tests.web.known_crawl_fixture import at, paragraph, paragraphs
from tests.web.served_fixture import Served, serving


def family(name: str, urls: list[str], *, same: int, captures: int = 1) -> list[Page]:
    """Return captures of `urls` that share the first `same` of ten paragraphs."""
    shared = paragraphs(name, same)
    return [
        Page(
            url,
            text="\n\n".join([*shared, *paragraphs(f"{name} {number} {url}", 10 - same)]),
            title=f"{name} at {url}",
            fetched_at=at(1 + number) + timedelta(hours=capture),
        )
        for number, url in enumerate(urls)
        for capture in range(captures)
    ]


OFTEN = [
    Page("https://often.example/", text="\n\n".join(paragraphs("often", 9)), fetched_at=at(1, 1 + number))
    for number in range(10)
]
ONCE = Page(
    "https://once.example/",
    text="\n\n".join([*paragraphs("often", 8), paragraph("often otherwise")]),
    fetched_at=at(2),
)
REPEATED = [
    Page("https://quiet.example/", text="\n\n".join(paragraphs("quiet", 5)), fetched_at=at(1 + number))
    for number in range(4)
]
LARGE = family("large", [f"https://zoo.example/{number}" for number in range(5)], same=9)
SPREAD = family("spread", [f"https://{letter}.example/" for letter in "abc"], same=8)
CRAWL = [*OFTEN, ONCE, *REPEATED, *LARGE, *SPREAD]


@pytest.fixture(scope="module")
def crawl(new_name: str) -> Iterator[Served]:
    with serving(made(new_name, CRAWL)) as found:
        yield found


def sites(found: Any) -> list[str]:
    return [each["representative"]["site"] for each in found["clusters"]]


def test_a_page_captured_ten_times_counts_once(crawl: Served) -> None:
    often, *_ = (each for each in crawl.json("/clusters.json")["clusters"] if each["pages"] == 11)
    assert (often["urls"], often["sites"], often["texts"]) == (2, 2, 2)
    found = crawl.json(f"/cluster/{often['id']}.json")
    assert (found["pages"], found["urls"], found["texts"], found["pairs"]) == (11, 2, 2, 1)
    assert [(each["number"], each["url"], each["captures"]) for each in found["listed_pages"]] == [
        (1, OFTEN[0].url, 10), (2, ONCE.url, 1)
    ]  # fmt: skip
    assert found["listed_pages"][0]["id"] == often["id"]  # the representative stands for its URL
    reply = crawl.get(f"/cluster/{often['id']}")
    assert reply.heading.startswith("2 pages on 2 sites, ")
    assert f'href="/page/{often["id"]}/history">10 captures</a>' in reply.text
    assert [each["captures"] for each in crawl.get(f"/cluster/{often['id']}.csv").rows] == ["10", "1"]
    page = crawl.json(f"/page/{often['id']}.json")["cluster"]
    assert (page["pages"], page["urls"]) == (11, 2)


def test_a_page_that_only_repeats_itself_is_left_out(crawl: Served) -> None:
    found = crawl.json("/clusters.json")
    assert (found["found"], found["repeats"]) == (3, 1)
    assert "quiet.example" not in sites(found)
    assert 'href="/clusters?min_urls=1">Include pages that only repeat themselves</a>' in crawl.get("/clusters").text
    everything = crawl.json("/clusters.json?min_urls=1")
    assert (everything["found"], everything["repeats"]) == (4, 0)
    (repeated,) = (each for each in everything["clusters"] if each["urls"] == 1)
    assert (repeated["pages"], repeated["texts"]) == (4, 1)
    alone = crawl.get(f"/cluster/{repeated['id']}")
    assert alone.heading == "No other page is like this one: 4 captures of one page"


@pytest.mark.parametrize(
    ("order", "expected"),
    [
        ("size", ["zoo.example", "a.example", "often.example"]),
        ("spread", ["a.example", "often.example", "zoo.example"]),
        ("site", ["a.example", "often.example", "zoo.example"]),
    ],
)
def test_clusters_are_sorted(crawl: Served, order: str, expected: list[str]) -> None:
    assert sites(crawl.json(f"/clusters.json?order={order}")) == expected
    assert [each["site"] for each in crawl.get(f"/clusters.csv?order={order}").rows] == expected
    paged = [crawl.json(f"/clusters.json?order={order}&limit=1&page={page}") for page in (1, 2, 3)]
    assert [sites(found)[0] for found in paged] == expected
    assert [found["more"] for found in paged] == [True, True, False]
    address = "/clusters" if order == "size" else f"/clusters?order={order}"
    assert f'<option value="{order}" selected>' in crawl.get(address).text


def test_the_least_alike_come_first(crawl: Served) -> None:
    shares = {each["id"]: each["lowest"] for each in crawl.json("/clusters.json?order=lowest")["clusters"]}
    assert [*shares.values()] == sorted(shares.values())
    assert len({*shares.values()}) > 1
    assert shares == {each["id"]: each["lowest"] for each in crawl.json("/clusters.json")["clusters"]}


def test_clusters_with_a_page_on_a_site(crawl: Served) -> None:
    assert sites(crawl.json("/clusters.json?site=b.example")) == ["a.example"]
    assert sites(crawl.json("/clusters.json?site=%20ONCE.example")) == ["often.example"]
    assert sites(crawl.json("/clusters.json?site=quiet.example")) == []
    assert sites(crawl.json("/clusters.json?site=quiet.example&min_urls=1")) == ["quiet.example"]
    assert sites(crawl.json("/clusters.json?site=zoo.example&min_urls=6")) == []
    assert crawl.get("/clusters.json?order=colour").status == 400


def test_a_store_with_more_clusters_than_are_sorted_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tmp_path / "many.winnow", CRAWL)
    serving_ = ServedStore.named(str(tmp_path / "many.winnow"))

    def shown(path: str) -> str:
        status, body = one_request(make_app(serving_), path)
        assert status == 200
        return body.decode()

    assert "Sorted among" not in shown("/clusters?order=lowest")
    monkeypatch.setattr(cluster_list, "MAX_CLUSTERS_ESTIMATED", 2)
    assert "Sorted among the 2 largest clusters." in shown("/clusters?order=lowest")
    assert "Sorted among" not in shown("/clusters?order=spread")
    monkeypatch.setattr(cluster_list, "MAX_CLUSTERS_SORTED", 3)  # one of these only repeats itself
    monkeypatch.setattr("opensearch_winnow.web.screens.clusters.clusters.MAX_CLUSTERS_SORTED", 3)
    limited = shown("/clusters?order=spread")
    assert "<h1>At least 2 clusters, the largest with 5 pages</h1>" in limited
    assert "Sorted among the 3 largest clusters." in limited
