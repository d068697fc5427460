"""The page and history screens over HTTP."""

from __future__ import annotations

import csv
import io
import re
from itertools import pairwise
from pathlib import Path
from urllib.parse import quote

import pytest
from lxml import html

from opensearch_winnow import Index, Page, compare
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.saved_recipe import save_recipe
from tests.web.conftest import Serve
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
    reply = served.get(path)
    assert reply.status == 200, reply.text
    return re.sub("<[^>]*>", "", reply.text.partition("<h1")[2].partition(">")[2].partition("</h1>")[0])


@pytest.mark.parametrize("url", [MILL, HARBOUR, CONTAINED, ALONE[1]])
@pytest.mark.parametrize("threshold", [0.2, 0.5, 0.8])
def test_near_duplicates_are_those_of_brute_force(served: Served, url: str, threshold: float) -> None:
    # Of earlier captures of the mill some resemble it more: the best capture of a URL is the one that counts.
    expected = {
        other: max(compare(TEXTS[url], page.text or "").resemblance for page in PAGES if page.url == other)
        for other in TEXTS
        if other != url
    }
    found = served.json(f"/api/v1/pages/{IDS[url]}?min_resemblance={threshold}")["similar"]
    scores = {each["url"]: each["resemblance"] for each in found["matches"]}
    assert scores == {other: score for other, score in expected.items() if score >= threshold}
    assert list(scores.values()) == sorted(scores.values(), reverse=True)
    assert found["total"] == len(scores)
    assert served.json(f"/api/v1/pages/{IDS[url]}/similar?min_resemblance={threshold}")["matches"] == found["matches"]


def test_the_answer_is_in_words_and_copies_are_counted_apart(served: Served) -> None:
    assert heading(served, MILL_PAGE) == "4 near-duplicates, 2 of them exact copies"
    found = served.json(f"{MILL_PAGE}.json")
    assert set(found["similar"]["copies"]) == {IDS[MIRROR], IDS[SHOUTED]}
    assert (found["title"], found["words"], found["latest"], found["text"]) == (
        "The mill in the valley",
        480,
        True,
        TEXTS[MILL],
    )
    assert heading(served, f"{MILL_PAGE}?min_resemblance=1") == "2 near-duplicates, all exact copies"
    assert (
        heading(served, f"{MILL_PAGE}?min_resemblance=0.3")
        == "5 pages with a resemblance of at least 30 %, 2 of them exact copies"
    )
    assert heading(served, f"{MILL_PAGE}?limit=1") == "4 near-duplicates, at least 1 of them an exact copy"


def test_what_has_the_same_text_is_shown_once(served: Served) -> None:
    """Three pages have the text of the mill; only one of them is a row among the near-duplicates of the news."""
    page = html.document_fromstring(served.get(f"/page/{IDS[NEAR]}").text)
    rows = page.xpath("//table[contains(@class, 'matches')]/tbody/tr")
    (mill,) = (row for row in rows if row.xpath(".//details"))
    assert [summary.text for summary in mill.xpath(".//summary")] == ["2 more with the same text"]
    assert set(mill.xpath(".//td[1]//bdi[@class='url']/text()")) == {MILL, MIRROR, SHOUTED}
    shown = [url for row in rows for url in row.xpath(".//td[1]//bdi[@class='url']/text()")]
    found = served.json(f"/page/{IDS[NEAR]}.json")["similar"]["matches"]
    assert sorted(shown) == sorted(each["url"] for each in found)


def test_the_other_directions(served: Served) -> None:
    def urls(query: str) -> set[str]:
        return {each["url"] for each in served.json(f"{MILL_PAGE}.json?{query}")["similar"]["matches"]}

    copies = {MIRROR, SHOUTED}
    assert urls("min_containment=0.5") == copies | {NEAR, MOVED, CONTAINS}
    assert heading(served, f"{MILL_PAGE}?min_containment=1").startswith("3 pages contain all of it, 2 of them")
    assert urls("min_contained=0.9") == copies | {CONTAINED}
    assert urls("min_containment=0") == copies | {NEAR, MOVED, CONTAINS, CONTAINED, QUOTES}
    assert heading(served, f"{MILL_PAGE}?min_containment=0") == (
        "7 pages share a passage with it, 2 of them exact copies"
    )
    assert urls("min_resemblance=0.3&min_containment=0.95") == copies | {CONTAINS}  # all that are given hold
    assert urls("min_resemblance=0.5&site=news.example") == {NEAR}
    assert set(EARLIER) < {
        each["id"]
        for each in served.json(f"{MILL_PAGE}.json?all_captures=on&min_resemblance=0.3")["similar"]["matches"]
    }


def test_nothing_found_says_why_and_its_offer_finds_as_many(served: Served) -> None:
    extract = served.get(f"/page/{IDS[CONTAINED]}")
    assert ">No near-duplicate</h1>" in extract.text
    assert (
        'href="/page/' + IDS[CONTAINED] + '?min_resemblance=0.2">a threshold of 20 % finds 4 pages</a>' in extract.text
    )
    assert served.json(f"/page/{IDS[CONTAINED]}.json?min_resemblance=0.2")["similar"]["total"] == 4
    assert '?min_containment=0.5">at least half of it is in other pages</a>' in extract.text
    assert served.json(f"/page/{IDS[CONTAINED]}.json?min_containment=0.5")["similar"]["total"] == 6
    quote_ = served.get(f"/page/{IDS[QUOTES]}")
    assert "6 pages share a passage with it</a>" in quote_.text
    assert served.json(f"/page/{IDS[QUOTES]}.json?min_containment=0")["similar"]["total"] == 6
    alone = served.get(f"/page/{IDS[ALONE[0]]}")
    assert "No other page in this store shares a passage with it; a shared run of 149 letters and digits" in alone.text
    filtered = served.get(f"{MILL_PAGE}?site=farm.example")
    assert "Without the filters there are 4" in filtered.text
    assert "Too short to compare" in served.get(f"/page/{IDS[SHORT]}").text


def test_its_cluster(served: Served) -> None:
    found = served.json(f"{MILL_PAGE}.json")["cluster"]
    assert (found["id"], found["pages"], found["urls"], found["more"]) == (EARLIER[0], 7, 4, False)
    assert f'<a href="/cluster/{EARLIER[0]}">4 near-duplicate pages</a>' in served.get(MILL_PAGE).text
    assert "No other page was in its cluster" in served.get(f"/page/{IDS[SHORT]}").text


def test_its_history(served: Served) -> None:
    found = served.json(f"/api/v1/pages/{IDS[MILL]}/history")
    assert [each["id"] for each in found["captures"]] == [*EARLIER, IDS[MILL]]
    texts = [page.text or "" for page in PAGES[:4]]
    expected = [None, *(compare(one, other).resemblance for one, other in pairwise(texts))]
    assert [each["resemblance"] for each in found["captures"]] == expected
    assert served.json(f"{MILL_PAGE}.json")["history"] == found
    latest = served.json(f"{MILL_PAGE}/history.json?limit=2")
    assert latest == {**found, "earlier": True, "captures": found["captures"][2:]}
    rows = list(csv.DictReader(io.StringIO(served.get(f"{MILL_PAGE}/history.csv").text)))
    assert [row["id"] for row in rows] == [each["id"] for each in found["captures"]]
    assert heading(served, f"{MILL_PAGE}/history") == "4 captures from 2024-01-01 to 2024-06-01, 2 of them changed"
    old = served.get(f"/page/{EARLIER[0]}").text
    assert f'<a href="{MILL_PAGE}">show latest</a>' in old


def test_the_table_as_csv(served_file: Served) -> None:
    rows = list(csv.DictReader(io.StringIO(served_file.get(f"{MILL_PAGE}.csv?min_containment=0").text)))
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
    assert led(f"/compare?a={EARLIER[0]}&b={IDS[MILL]}") == f"/compare/{EARLIER[0]}/{IDS[MILL]}"
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
    assert served.get("/compare?a=x").status == 400
    assert served.get("/api/v1/pages?url=x").json["error"].endswith("has no page x")
    assert served.get(f"{MILL_PAGE}?min_resemblance=1.01").status == 400
    assert served.get(f"/api/v1/pages/{IDS[MILL]}/similar?direction=x").status == 400


def test_a_page_that_is_deleted_meanwhile(own_file: Path, serve: Serve) -> None:
    served = serve(own_file)
    assert served.get(f"/page/{IDS[NEAR]}").status == 200
    with Index.open(own_file) as index:
        index.store.delete([IDS[NEAR]])
    gone = served.get(f"/page/{IDS[NEAR]}")
    assert (gone.status, "it may have been deleted" in gone.text) == (404, True)
    assert heading(served, MILL_PAGE) == "3 near-duplicates, 2 of them exact copies"


@pytest.mark.check
def test_a_store_without_texts(tmp_path: Path, serve: Serve) -> None:
    with EmbeddedStore.open(tmp_path / "hashes.winnow", create=True) as store:
        save_recipe(store, Recipe(text=False))
    with Index.open(tmp_path / "hashes.winnow") as index:
        index.add([*PAGES, *(Page(f"https://{name}.example/", revisit_of="https://gone.example/") for name in "uv")])
        revisits = [index.page(f"https://{name}.example/").id for name in "uv"]
    served = serve(tmp_path / "hashes.winnow")
    found = served.json(f"{MILL_PAGE}.json")
    assert (found["text"], found["words"], found["characters"]) == ("", None, None)
    assert {each["kind"] for each in found["similar"]["matches"]} == {"estimate"}
    assert set(found["similar"]["copies"]) == {IDS[MIRROR], IDS[SHOUTED]}
    relationships = {each["id"]: each["relationship"] for each in found["similar"]["matches"]}
    assert {id_ for id_, found in relationships.items() if found} == set(found["similar"]["copies"])
    shown = served.get(MILL_PAGE).text
    assert "The text of this page is not stored" in shown
    assert "± " in shown
    assert "winnow cluster --store" in shown
    assert "This page has no fingerprints" in served.get(f"/page/{IDS[SHORT]}").text
    revisit = served.get(f"/page/{revisits[0]}").text
    assert ">Nothing to compare</h1>" in revisit
    assert revisit.count("It has no text: it is a revisit, and the page that it repeats is not stored.") == 2
    assert "fingerprints" not in revisit
    assert "as CSV" not in revisit
    both, one = (served.get(f"/compare/{a}/{revisits[1]}").text for a in (revisits[0], IDS[MILL]))
    assert "<h1>There is no text to compare: A and B have none</h1>" in both
    assert "<h1>There is no text to compare: B has none</h1>" in one
    assert not re.search("standard error|Resemblance <", both + one)


@pytest.mark.check
def test_many_captures_and_a_long_text_are_bounded(tmp_path: Path, serve: Serve) -> None:
    url = "https://a.example/"
    text = "\n\n".join(paragraphs("long", 600))
    assert len(text) > 200_000
    captures = [
        Page(url, text=paragraphs("daily", 1, day)[0], fetched_at=at(month, day))
        for month in range(1, 13)
        for day in range(1, 28, 5)
    ]
    with Index.open(tmp_path / "long.winnow") as index:
        index.add([*captures, Page("https://b.example/", text=text)])
        ids = [index.page(each).id for each in (url, "https://b.example/")]
    served = serve(tmp_path / "long.winnow")
    page = served.get(f"/page/{ids[0]}").text
    assert "The latest 50 captures from" in page
    assert f'<a href="/page/{ids[0]}/history">See what changed</a>' in page
    assert page.count('name="a"') == 0
    assert served.get(f"/page/{ids[0]}/history").text.count('name="a"') == len(captures)
    long = served.get(f"/page/{ids[1]}").text
    assert f'<a href="/page/{ids[1]}.json">Download all as JSON</a>' in long
    assert len(long) < 220_000
    assert served.json(f"/page/{ids[1]}.json")["text"] == text


@pytest.mark.check
def test_a_large_family_is_bounded_and_all_of_it_is_a_table(tmp_path: Path, serve: Serve) -> None:
    text = "\n\n".join(paragraphs("family", 3))
    with Index.open(tmp_path / "family.winnow") as index:
        index.add([Page(f"https://a.example/{number}", text=text) for number in range(130)])
        index.cluster()
        first = index.page("https://a.example/0").id
    served = serve(tmp_path / "family.winnow")
    page = served.get(f"/page/{first}").text
    assert ">129 near-duplicates, at least 100 of them exact copies</h1>" in page
    assert "Showing 100 of 129." in page
    assert "More than 100 near-duplicate pages" in page
    assert len(served.get(f"/page/{first}.csv?limit=129").text.splitlines()) == 130
    assert heading(served, f"/page/{first}?limit=129") == "129 near-duplicates, all exact copies"


def test_the_harbours_are_in_order(served_file: Served) -> None:
    found = served_file.json(f"/page/{IDS[HARBOUR]}.json")["similar"]["matches"]
    assert [each["url"] for each in found] == HARBOURS
