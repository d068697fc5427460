"""The page and history screens over HTTP."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest

from opensearch_winnow import Index, Page, compare
from opensearch_winnow.mappings.record import capture_id
from tests.web.conftest import Serve, Unclustered, made
from tests.web.known_crawl_fixture import (
    ALONE,
    CONTAINED,
    CONTAINS,
    EARLIER,
    HARBOUR,
    HARBOURS,
    IDS,
    MILL,
    MIRROR,
    MOVED,
    NEAR,
    PAGES,
    QUOTES,
    SHORT,
    SHOUTED,
    TEXTS,
    at,
    paragraphs,
)
from tests.web.served_fixture import Served

MILL_PAGE = f"/page/{IDS[MILL]}"


def heading(served: Served, path: str) -> str:
    return served.get(path).heading


def test_near_duplicates_are_those_of_the_library(served: Served) -> None:
    scores = {url: compare(TEXTS[HARBOUR], TEXTS[url]).resemblance for url in HARBOURS}
    path = f"/api/v1/pages/{IDS[HARBOUR]}"
    found = served.json(f"{path}?min_resemblance=0.6")["similar"]
    assert [(each["url"], each["resemblance"]) for each in found["matches"]] == list(scores.items())[:2]
    assert served.json(f"{path}/similar?min_resemblance=0.6")["matches"] == found["matches"]


def test_the_answer_is_in_words_and_copies_are_counted_apart(served: Served) -> None:
    assert heading(served, MILL_PAGE) == "4 near-duplicates, 2 of them exact copies"
    found = served.json(f"{MILL_PAGE}.json")
    assert set(found["similar"]["copies"]) == {IDS[MIRROR], IDS[SHOUTED]}
    facts = (found["title"], found["words"], found["latest"], found["text"])
    assert facts == ("The mill in the valley", 480, True, TEXTS[MILL])
    assert heading(served, f"{MILL_PAGE}?limit=1") == "4 near-duplicates, at least 1 of them an exact copy"


def test_what_has_the_same_text_is_shown_once(served: Served) -> None:
    """Three pages have the text of the mill; only one of them is a row among the near-duplicates of the news."""
    rows = served.get(f"/page/{IDS[NEAR]}").tree.xpath("//table[contains(@class, 'matches')]/tbody/tr")
    (mill,) = (row for row in rows if row.xpath(".//details"))
    assert [summary.text for summary in mill.xpath(".//summary")] == ["2 more with the same text"]
    assert set(mill.xpath(".//td[1]//bdi[@class='url']/text()")) == {MILL, MIRROR, SHOUTED}
    shown = [url for row in rows for url in row.xpath(".//td[1]//bdi[@class='url']/text()")]
    found = served.json(f"/page/{IDS[NEAR]}.json")["similar"]["matches"]
    assert sorted(shown) == sorted(each["url"] for each in found)


def test_the_other_directions(served: Served) -> None:
    copies = {MIRROR, SHOUTED}
    for query, expected in {
        "min_containment=0.5": copies | {NEAR, MOVED, CONTAINS},
        "min_contained=0.9": copies | {CONTAINED},
        "min_containment=0": copies | {NEAR, MOVED, CONTAINS, CONTAINED, QUOTES},
        "min_resemblance=0.3&min_containment=0.95": copies | {CONTAINS},  # all that are given hold
        "min_resemblance=0.5&site=news.example": {NEAR},
    }.items():
        assert {each["url"] for each in served.json(f"{MILL_PAGE}.json?{query}")["similar"]["matches"]} == expected
    assert heading(served, f"{MILL_PAGE}?min_containment=1").startswith("3 pages contain all of it, 2 of them")
    captures = served.json(f"{MILL_PAGE}.json?all_captures=on&min_resemblance=0.3")["similar"]["matches"]
    assert set(EARLIER) < {each["id"] for each in captures}


def test_nothing_found_says_why_and_its_offer_finds_as_many(served: Served) -> None:
    for url, query, score, total in (
        (CONTAINED, "min_resemblance=0.2", "a threshold of 20 % finds 4 pages</a>", 4),
        (CONTAINED, "min_containment=0.5", "at least half of it is in other pages</a>", 6),
        (QUOTES, "min_containment=0.0", "6 pages share a passage with it</a>", 6),
    ):
        path = f"/page/{IDS[url]}"
        assert f'?{query}">{score}' in served.get(path).text
        assert served.json(f"{path}.json?{query}")["similar"]["total"] == total
    assert "a shared run of 149 letters and digits" in served.get(f"/page/{IDS[ALONE[0]]}").text
    assert "Without the filters there are 4" in served.get(f"{MILL_PAGE}?site=farm.example").text
    assert "Too short to compare" in served.get(f"/page/{IDS[SHORT]}").text


def test_its_cluster(served: Served) -> None:
    found = served.json(f"{MILL_PAGE}.json")["cluster"]
    assert (found["id"], found["pages"], found["urls"], found["more"]) == (EARLIER[0], 7, 4, False)
    assert f'<a href="/cluster/{EARLIER[0]}">4 near-duplicate pages</a>' in served.get(MILL_PAGE).text


def test_its_history(served: Served) -> None:
    found = served.json(f"/api/v1/pages/{IDS[MILL]}/history")
    assert [each["id"] for each in found["captures"]] == [*EARLIER, IDS[MILL]]
    texts = [page.text or "" for page in PAGES[:4]]
    expected = [None, *(compare(one, other).resemblance for one, other in pairwise(texts))]
    assert [each["resemblance"] for each in found["captures"]] == expected
    assert served.json(f"{MILL_PAGE}.json")["history"] == found
    latest = served.json(f"{MILL_PAGE}/history.json?limit=2")
    assert latest == {**found, "earlier": True, "captures": found["captures"][2:]}
    rows = served.get(f"{MILL_PAGE}/history.csv").rows
    assert [row["id"] for row in rows] == [each["id"] for each in found["captures"]]
    assert heading(served, f"{MILL_PAGE}/history") == "4 captures from 2024-01-01 to 2024-06-01, 2 of them changed"
    assert f'<a href="{MILL_PAGE}">show latest</a>' in served.get(f"/page/{EARLIER[0]}").text


def test_the_table_as_csv(served_file: Served) -> None:
    rows = served_file.get(f"{MILL_PAGE}.csv?min_containment=0").rows
    found = served_file.json(f"{MILL_PAGE}.json?min_containment=0")["similar"]["matches"]
    assert [(row["id"], float(row["containment"]), int(row["passages"])) for row in rows] == [
        (each["id"], each["containment"], len(each["passages"])) for each in found
    ]


def test_addresses_that_lead_to_pages(served: Served) -> None:
    def led(path: str) -> str:
        reply = served.get(path)
        assert reply.status == 303, reply.text
        return reply.headers["location"]

    assert led(f"/page?url={quote(MILL)}") == MILL_PAGE
    assert led(f"/page?url={quote(MILL)}&at=2024-02") == f"/page/{EARLIER[1]}"
    assert served.get("/compare?a=%2F%2Felsewhere.example&b=..").status == 404
    assert served.json(f"/api/v1/pages?url={quote(MILL)}&at=2024-02")["id"] == EARLIER[1]


def test_what_is_not_there(served: Served) -> None:
    spelt = served.get(f"/page?url={quote(MIRROR)}/")
    assert spelt.status == 404
    assert f'href="/page?url={quote(MIRROR, safe="")}"' in spelt.text
    early = served.get(f"/page?url={quote(MILL)}&at=2023")
    assert (early.status, f'href="/page?url={quote(MILL, safe="")}"' in early.text) == (404, True)
    for path in ("/page?url=x", f"/page/{'0' * 32}", "/page/x", f"/page/{'0' * 32}/history", "/page/%00"):
        assert served.get(path).status == 404, path
    assert served.get("/page").status == 400
    assert served.get("/api/v1/pages?url=x").json["error"].endswith("has no page x")
    assert served.get(f"{MILL_PAGE}?min_resemblance=1.01").status == 400
    assert served.get(f"/api/v1/pages/{IDS[MILL]}/similar?direction=x").status == 400


def test_a_page_that_is_deleted_meanwhile(own_file: Path, serve: Serve) -> None:
    served = serve(own_file)
    assert served.get(f"/page/{IDS[NEAR]}").status == 200
    with Index.open(own_file) as index:
        index.store.delete([IDS[NEAR]])
    assert served.get(f"/page/{IDS[NEAR]}").status == 404
    assert heading(served, MILL_PAGE) == "3 near-duplicates, 2 of them exact copies"


@pytest.mark.check
def test_a_store_without_texts(tmp_path: Path, serve: Serve) -> None:
    revisits = [Page(f"https://{name}.example/", revisit_of="https://gone.example/") for name in "uv"]
    served = serve(made(tmp_path / "hashes.winnow", [*PAGES, *revisits], with_text=False))
    a, b = (capture_id(page.url, None) for page in revisits)
    found = served.json(f"{MILL_PAGE}.json")
    assert (found["text"], found["words"], found["characters"]) == ("", None, None)
    assert {each["kind"] for each in found["similar"]["matches"]} == {"estimate"}
    assert set(found["similar"]["copies"]) == {IDS[MIRROR], IDS[SHOUTED]}
    relationships = {each["id"]: each["relationship"] for each in found["similar"]["matches"]}
    assert {id_ for id_, found in relationships.items() if found} == set(found["similar"]["copies"])
    shown = served.get(MILL_PAGE).text
    assert "The text of this page is not stored" in shown
    assert "This page has no fingerprints" in served.get(f"/page/{IDS[SHORT]}").text
    revisit = served.get(f"/page/{a}")
    assert revisit.heading == "Nothing to compare"
    assert revisit.text.count("It has no text: it is a revisit") == 2
    assert "fingerprints" not in revisit.text
    assert "as CSV" not in revisit.text
    for other, lacking in ((a, "A and B have"), (IDS[MILL], "B has")):
        reply = served.get(f"/compare/{other}/{b}")
        assert reply.heading == f"There is no text to compare: {lacking} none"


@pytest.mark.check
def test_many_captures_and_a_long_text_are_bounded(unclustered: Unclustered, serve: Serve) -> None:
    url = "https://a.example/"
    text = "\n\n".join(paragraphs("long", 600))
    assert len(text) > 200_000
    captures = [
        Page(url, text=paragraphs("daily", 1, day)[0], fetched_at=at(month, day))
        for month in range(1, 13)
        for day in range(1, 28, 5)
    ]
    store = unclustered([*captures, Page("https://b.example/", text=text)])
    with Index.open(store) as index:
        ids = [index.page(each).id for each in (url, "https://b.example/")]
    served = serve(store)
    page = served.get(f"/page/{ids[0]}").text
    assert "The latest 50 captures from" in page
    assert page.count('name="a"') == 0
    assert served.get(f"/page/{ids[0]}/history").text.count('name="a"') == len(captures)
    long = served.get(f"/page/{ids[1]}").text
    assert f'<a href="/page/{ids[1]}.json">Download all as JSON</a>' in long
    assert len(long) < 220_000
    assert served.json(f"/page/{ids[1]}.json")["text"] == text


@pytest.mark.check
def test_a_large_family_is_bounded_and_all_of_it_is_a_table(tmp_path: Path, serve: Serve) -> None:
    text = "\n\n".join(paragraphs("family", 3))
    store = made(tmp_path / "family.winnow", [Page(f"https://a.example/{number}", text=text) for number in range(130)])
    with Index.open(store) as index:
        first = index.page("https://a.example/0").id
    served = serve(store)
    page = served.get(f"/page/{first}").text
    assert "Showing 100 of 129." in page
    assert len(served.get(f"/page/{first}.csv?limit=129").text.splitlines()) == 130
    assert heading(served, f"/page/{first}?limit=129") == "129 near-duplicates, all exact copies"
