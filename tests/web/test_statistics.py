"""The statistics screen: numbers add up, and charts show the same numbers."""

from __future__ import annotations

import re
from collections import Counter
from html import unescape
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.upkeep.power_law import power_law
from opensearch_winnow.web.app import API
from tests.web.conftest import Serve, Unclustered
from tests.web.known_crawl_fixture import PAGES, TEXTS
from tests.web.served_fixture import Served


def charts(text: str) -> dict[str, str]:
    """Return the charts of a page by title."""
    found = re.findall(r'<svg class="chart" viewBox="0 0 400.*?</svg>', text, re.DOTALL)
    titles = [re.findall(r"<title>(.*?)</title>", each)[0] for each in found]
    return dict(zip(titles, found, strict=True))


def titles(chart: str, pattern: str) -> dict[str, int]:
    """Return the numbers in the tooltips of a chart by name."""
    said = [unescape(each) for each in re.findall(r"<title>(.*?)</title>", chart)[1:]]
    pairs = [re.fullmatch(pattern, each) for each in said]
    return {each["name"]: int(each["number"].replace(",", "")) for each in pairs if each}


def table(text: str, caption: str) -> dict[str, int]:
    (found,) = re.findall(rf'<caption class="unseen">{caption}</caption>.*?</table>', text, re.DOTALL)
    rows = re.findall(r"<th scope=\"row\"[^>]*>(.*?)</th><td[^>]*>(.*?)</td>", found, re.DOTALL)
    return {unescape(re.sub("<.*?>", "", name)): int(number.replace(",", "")) for name, number in rows}


def test_numbers_are_those_of_the_library(served: Served) -> None:
    found = served.json("/api/v1/statistics")
    with Index.open(served.store) as index:
        statistics = index.statistics()
        clustering = index.clustering()
    assert clustering
    assert (found["pages"], found["urls"], found["sites"]) == statistics[:3] == (22, 19, 14)
    for field, counts in statistics.frequencies.items():
        assert dict(found["tokens"][field]["frequencies"]) == counts
    assert sum(found["months"].values()) == len(PAGES) - 1  # one has no time
    assert found["months"]["2024-07"] == 2
    assert found["crawls"] == {"known": len(PAGES)}
    law = power_law(dict(found["tokens"]["fingerprints"]["frequencies"]))
    assert law
    assert found["power_law"] == pytest.approx(law.to_dict())
    assert found["clustering"]["sizes"] == {"4": 1, "7": 1}
    assert found["clustering"] == clustering.to_dict()
    assert sum(clustering.candidates.histogram) == clustering.candidates.compared
    reply = served.get("/statistics")
    assert reply.heading == "22 captures of 19 pages on 14 sites"
    assert "2 clusters with 11 captures" in reply.text
    assert "since near-copies were last looked for" not in reply.text
    assert "/statistics/again" not in reply.text  # who may only read cannot have them counted again
    values = {(each["part"], each["name"]): each["value"] for each in served.get("/statistics.csv").rows}
    assert values["count", "pages"] == "22"
    assert values["clusters of pages", "7"] == "1"
    assert values["month", "2024-07"] == "2"


def test_tables_equal_the_pictures(served_file: Served) -> None:
    text = served_file.get("/statistics").text
    found = served_file.json("/statistics.json")
    pairs, sizes, frequencies, times = charts(text).values()
    bars = titles(pairs, r"(?P<name>.*?): (?P<number>[\d,]+) pairs?")
    assert bars == table(text, "Pairs by resemblance")
    assert sum(bars.values()) == found["clustering"]["candidates"]["compared"]
    assert titles(sizes, r"(?P<number>[\d,]+) clusters? of (?P<name>[\d,]+) pages") == {"4": 1, "7": 1}
    assert table(text, "Clusters by number of pages") == {"4": 1, "7": 1}
    points = titles(frequencies, r"(?P<number>[\d,]+) fingerprints? on (?P<name>[\d,]+) pages?")
    assert points == {str(on): count for on, count in found["tokens"]["fingerprints"]["frequencies"]}
    assert 'class="law"' in frequencies
    binned = table(text, "Fingerprints by number of pages")
    assert sum(binned.values()) == found["tokens"]["fingerprints"]["different"]
    assert titles(times, r"(?P<name>.*?): (?P<number>[\d,]+) pages?") == table(
        text, "Pages by capture date"
    ) == found["months"]  # fmt: skip


def test_the_most_common_texts(served: Served) -> None:
    found = served.json("/statistics.json")["common_texts"]
    with Index.open(served.store) as index:
        records = list(index.store.scan(Record))
    counts = Counter(each for record in records for each in set(record.hashes.fingerprints))
    assert found[0]["pages"] == max(counts.values())
    assert [each["pages"] for each in found] == sorted((each["pages"] for each in found), reverse=True)
    texts = {record.id: record.text for record in records}
    assert all(each["text"] in texts[each["id"]] for each in found)
    # What is searched for is on as many pages at least.
    searches = re.findall(
        r'<a href="(/search\?words=%22[^"]*)" aria-label="Search for this text', served.get("/statistics").text
    )
    assert len(searches) == len(found)
    for each, address in zip(found, searches, strict=True):
        path = unescape(address).replace("/search?", f"{API}/search?")  # which takes no unknown parameter
        assert served.json(path)["total"] >= each["pages"]


@pytest.mark.check
def test_a_store_that_is_not_clustered(unclustered: Unclustered, serve: Serve) -> None:
    served = serve(unclustered([Page("https://a.example/", text=next(iter(TEXTS.values())))]))
    reply = served.get("/statistics")
    assert reply.heading == "1 page on 1 site"
    assert served.json("/statistics.json")["common_texts"] == []


@pytest.mark.check
def test_they_are_kept_until_somebody_wants_them_anew(own_file: Path, serve: Serve) -> None:
    served = serve(own_file, "--write")
    assert served.json("/statistics.json")["pages"] == 22
    with Index.open(own_file) as index:
        index.add([Page("https://new.example/", text="A new page, of a few words only.")])
    assert served.json("/statistics.json")["pages"] == 22
    reply = served.form("/statistics/again")
    assert (reply.status, reply.headers["location"]) == (303, "/statistics")
    assert served.json("/statistics.json")["pages"] == 23
