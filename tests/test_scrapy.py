"""The Scrapy pipeline, in a real spider in its own process, crawling a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread
from typing import Any

import pytest

from opensearch_winnow import Index, Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.record_files.reader import scheme_of
from opensearch_winnow.record_files.records import read_records
from opensearch_winnow.stores.embedded import EmbeddedStore

pytestmark = pytest.mark.check

SPIDER = """
import json, sys
import scrapy
from scrapy.crawler import CrawlerProcess
from opensearch_winnow.scrapy import captured

class Spider(scrapy.Spider):
    name = "all"
    start_urls = [sys.argv[1]]
    def parse(self, response):
        yield captured(response)
        if response.url.endswith("a.html"):
            yield {"url": "http://example.org/by-hand", "text": "this is a text that somebody put together by hand"}
            yield {"price": 3}
        yield from response.follow_all(css="a")

settings = {
    "ITEM_PIPELINES": {"opensearch_winnow.scrapy.WinnowPipeline": 900},
    "WINNOW_CRAWL": "test",
    "TELNETCONSOLE_ENABLED": False,
    "LOG_LEVEL": "WARNING",
    "FEEDS": {"items.jsonl": {"format": "jsonlines", "fields": ["url", "price"]}},
} | json.loads(sys.argv[2])
process = CrawlerProcess(settings)
crawler = process.create_crawler(Spider)
process.crawl(crawler)
process.start()
print(json.dumps({key: value for key, value in crawler.stats.get_stats().items() if key.startswith("winnow/")}))
"""


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None: ...


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """A site of four pages on a loopback port."""
    folder = tmp_path / "site"
    folder.mkdir()
    prose = " ".join(Random(1).choices(["mill", "wind", "sack", "grain", "stone", "water"], k=90))
    (folder / "index.html").write_text(f'<title>Home</title><p>{prose}<a href="a.html">a</a> <a href="b.html">b</a>')
    (folder / "a.html").write_text('<meta charset="latin-1"><title>A</title><p>Grüße aus der Mühle', encoding="latin-1")
    (folder / "b.html").write_text(f'<title>B</title><p>{prose}<a href="empty.html">a</a> <a href="a.html">b</a>')
    (folder / "empty.html").write_text("<script>nothing()</script>")
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/index.html"
        finally:
            server.shutdown()
            thread.join()


def crawl(folder: Path, start: str, **settings: object) -> subprocess.CompletedProcess[str]:
    (folder / "spider.py").write_text(SPIDER)
    command = [sys.executable, "-W", "error::DeprecationWarning:opensearch_winnow", "spider.py", start]
    command.append(json.dumps(settings))
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


STORE = {"WINNOW_STORE": "crawl.winnow"}
EXPECTED = {"winnow/indexed": 4, "winnow/skipped": 1, "winnow/not_a_page": 1}


def by_name(records: Iterable[Record]) -> dict[str, Record]:
    return {record.url.rpartition("/")[2]: record for record in records}


def stored(folder: Path) -> dict[str, Record]:
    with EmbeddedStore.open(folder / "crawl.winnow") as store:
        return by_name(store.scan(Record))


def items(folder: Path) -> list[Any]:
    """Return the items that were passed on to the last pipeline."""
    return [json.loads(line) for line in (folder / "items.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("settings", [{"WINNOW_TO": "records.parquet"}, STORE])
def test_pages_of_a_spider_become_records(site: str, tmp_path: Path, settings: dict[str, str]) -> None:
    done = crawl(tmp_path, site, **settings)
    assert json.loads(done.stdout) == EXPECTED, done.stderr
    records = stored(tmp_path) if settings == STORE else by_name(read_records(tmp_path / "records.parquet"))
    titles = {"index.html": "Home", "a.html": "A", "b.html": "B", "by-hand": None}
    assert {name: record.title for name, record in records.items()} == titles
    assert records["a.html"].text == "Grüße aus der Mühle"
    assert {record.crawl for record in records.values()} == {"test"}
    assert all(record.fetched_at for name, record in records.items() if name != "by-hand")
    assert records["b.html"].duplicate == "text"
    # All items are passed on to the next pipeline, including those that are not pages.
    assert (len(items(tmp_path)), sum("price" in item for item in items(tmp_path))) == (6, 1)


@pytest.mark.parametrize("place", ["settings", "environment"])
def test_a_key_comes_from_the_file_that_a_setting_or_the_environment_names(
    site: str, tmp_path: Path, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "key").write_text("open sesame\n")
    keyed = {"WINNOW_KEY_FILE": "key"} if place == "settings" else {}
    if place == "environment":
        monkeypatch.setenv("WINNOW_KEY_FILE", "key")
    runs = [
        crawl(tmp_path, site, **STORE, WINNOW_PRESET="passages", **keyed),
        crawl(tmp_path, site, WINNOW_TO="records.parquet", **keyed),
    ]
    assert [json.loads(done.stdout) for done in runs] == [EXPECTED, EXPECTED], runs
    assert not any("sesame" in done.stdout + done.stderr for done in runs)
    monkeypatch.delenv("WINNOW_KEY_FILE", raising=False)
    with Index.open(tmp_path / "crawl.winnow", key="open sesame") as index:
        assert index.scheme == Scheme(noise=20, guarantee=40, key="open sesame")
    assert scheme_of(tmp_path / "records.parquet").scheme("open sesame") == Scheme(key="open sesame")
    assert "has a secret key" in crawl(tmp_path, site, **STORE).stderr


def test_a_store_keeps_its_scheme_and_its_recipe(site: str, tmp_path: Path) -> None:
    with Index.open(tmp_path / "crawl.winnow", scheme=Scheme.preset("passages")) as index:
        (tmp_path / "first.html").write_text("<title>First</title><p>The first page of this store, on paper")
        index.index(tmp_path / "first.html", title=True, workers=1)
    done = crawl(tmp_path, site, **STORE)
    assert json.loads(done.stdout) == EXPECTED, done.stderr
    assert stored(tmp_path)["a.html"].text == "A\nGrüße aus der Mühle"
    assert "scheme" in crawl(tmp_path, site, **STORE, WINNOW_PRESET="pages").stderr
    assert len(stored(tmp_path)) == 5


@pytest.mark.parametrize("reactor", ["asyncioreactor.AsyncioSelectorReactor", "selectreactor.SelectReactor"])
def test_an_item_is_passed_on_only_after_it_is_stored(site: str, tmp_path: Path, reactor: str) -> None:
    """The next pipeline kills the process at its third item, as a crash would."""
    (tmp_path / "crash.py").write_text(CRASH_PIPELINE)
    pipelines = {"opensearch_winnow.scrapy.WinnowPipeline": 900, "crash.Crash": 901}
    twisted = f"twisted.internet.{reactor}"
    done = crawl(tmp_path, site, **STORE, ITEM_PIPELINES=pipelines, TWISTED_REACTOR=twisted)
    assert done.returncode == -9, done.stderr
    passed_on = (tmp_path / "passed-on").read_text().split()
    assert len(passed_on) == 3
    assert {url.rpartition("/")[2] for url in passed_on} - {"empty.html"} <= set(stored(tmp_path))


CRASH_PIPELINE = """
import os, signal

class Crash:
    seen = 0
    def process_item(self, item):
        if not hasattr(item, "url"):
            return item
        with open("passed-on", "a") as file:
            file.write(f"{item.url}\\n")
        self.seen += 1
        if self.seen == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        return item
"""


def test_a_spider_that_stops_keeps_every_page(site: str, tmp_path: Path) -> None:
    done = crawl(tmp_path, site, **STORE, CLOSESPIDER_ITEMCOUNT=1)
    assert json.loads(done.stdout)["winnow/indexed"] == len(stored(tmp_path)) > 0, done.stderr


def test_a_failed_item_is_kept_and_affects_no_other(site: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN_PIPELINE)
    pipelines = {"broken.Broken": 100, "opensearch_winnow.scrapy.WinnowPipeline": 900}
    done = crawl(tmp_path, site, **STORE, ITEM_PIPELINES=pipelines)
    assert json.loads(done.stdout) == {**EXPECTED, "winnow/indexed": 3, "winnow/failed": 1}, done.stderr
    assert set(stored(tmp_path)) == {"index.html", "b.html", "by-hand"}
    (line,) = (tmp_path / "crawl.winnow.failed.jsonl").read_text().splitlines()
    assert json.loads(line)["url"].endswith("a.html")


BROKEN_PIPELINE = """
from dataclasses import replace
from gzip import compress

class Broken:
    def process_item(self, item):
        if getattr(item, "url", "").endswith("a.html"):
            return replace(item, html=compress(item.html * 99)[:-20], codings=("gzip",))
        return item
"""


def test_items_are_not_acknowledged_when_the_store_fails(site: str, tmp_path: Path) -> None:
    """The store can no longer be written, so every page fails and none is passed on."""
    (tmp_path / "full.py").write_text(FULL_STORE_PIPELINE)
    done = crawl(tmp_path, site, **STORE, ITEM_PIPELINES={"full.FullStore": 900})
    assert "no space left" in done.stderr
    assert {item.get("url", "").rpartition("/")[2] for item in items(tmp_path)} == {"", "empty.html"}
    assert stored(tmp_path) == {}


FULL_STORE_PIPELINE = """
from opensearch_winnow.scrapy import WinnowPipeline
from opensearch_winnow.stores.embedded import EmbeddedStore
from opensearch_winnow.stores.store import StoreError

def write(self, records):
    if records:
        raise StoreError("no space left")
    return []

EmbeddedStore.write = write

class FullStore(WinnowPipeline):
    pass
"""


def test_one_destination_is_needed(site: str, tmp_path: Path) -> None:
    done = crawl(tmp_path, site)
    assert "WINNOW_STORE is not set" in done.stderr
    assert json.loads(done.stdout) == {}
    assert "WINNOW_STORE and WINNOW_TO" in crawl(tmp_path, site, **STORE, WINNOW_TO="records.parquet").stderr
    assert not [path for path in tmp_path.iterdir() if path.suffix in (".winnow", ".parquet")]
