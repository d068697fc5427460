"""A real spider, in a process of its own, on a real server."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from random import Random
from threading import Thread

import pytest

from opensearch_winnow.record_files.reader import read_records

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
    "WINNOW_TO": "records.parquet",
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

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/index.html"
        finally:
            server.shutdown()
            thread.join()


def crawl(folder: Path, start: str, **settings: str) -> subprocess.CompletedProcess[str]:
    spider = folder / "spider.py"
    spider.write_text(SPIDER)
    command = [sys.executable, "-W", "error::DeprecationWarning:opensearch_winnow", str(spider), start]
    return subprocess.run(
        [*command, json.dumps(settings)], cwd=folder, capture_output=True, text=True, check=False, timeout=120
    )


def test_what_a_spider_yields_becomes_records(site: str, tmp_path: Path) -> None:
    done = crawl(tmp_path, site)
    assert json.loads(done.stdout) == {"winnow/indexed": 4, "winnow/skipped": 1, "winnow/not_a_page": 1}, done.stderr
    records = {record.url.rpartition("/")[2]: record for record in read_records(tmp_path / "records.parquet")}
    assert {name: record.title for name, record in records.items()} == {
        "index.html": "Home",
        "a.html": "A",
        "b.html": "B",
        "by-hand": None,
    }
    assert records["a.html"].text == "Grüße aus der Mühle"
    assert {record.crawl for record in records.values()} == {"test"}
    assert all(record.fetched_at for name, record in records.items() if name != "by-hand")
    assert records["b.html"].duplicate == "text"
    # Items go on to the next in line, whatever they are.
    items = [json.loads(line) for line in (tmp_path / "items.jsonl").read_text().splitlines()]
    assert sum("price" in item for item in items) == 1
    assert len(items) == 6


def test_where_to_is_asked_for(site: str, tmp_path: Path) -> None:
    done = crawl(tmp_path, site, WINNOW_TO="")
    assert "WINNOW_STORE is not set" in done.stderr
    assert json.loads(done.stdout) == {}
