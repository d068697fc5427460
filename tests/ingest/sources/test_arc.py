from __future__ import annotations

import gzip
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import arc
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Skipped
from tests.ingest.sources.archives import items_of, read_in_turn

HTML = b"HTTP/1.0 200 OK\nContent-type: text/html\n\n<p>Hello"
TIME = datetime(2003, 2, 1, 4, 5, 6, tzinfo=UTC)
FIRST = (
    b"filedesc://x.arc 0.0.0.0 20030201000000 text/plain 75\n1 0 Somebody\n"
    b"URL IP-address Archive-date Content-type Archive-length"
).ljust(54 + 75) + b"\n"


def record(
    url: str, content: bytes = HTML, kind: str = "text/html", between: str = " ", length: object = None
) -> bytes:
    size = len(content) if length is None else length
    return f"{url} 1.2.3.4 20030201040506 {kind}{between}{size}\n".encode() + content + b"\n"


def items(archive: bytes, page_bytes: int = 1 << 20) -> list[Item]:
    return items_of(arc, archive, page_bytes)


def names(archive: bytes, page_bytes: int = 1 << 20) -> list[str]:
    found = []
    for item in items(archive, page_bytes):
        if isinstance(item, Damage):
            found.append(f"{item.skipped} {item.reason}")
        else:
            found.append(f"{item.page.url} {item.reason}" if isinstance(item, Failed) else item.url)
    return found


@pytest.mark.parametrize("between", [" ", " 200 - - 123 x.arc "], ids=["version 1", "version 2"])
def test_a_response_is_a_page(between: str) -> None:
    page = Page("http://e/", html=b"<p>Hello", fetched_at=TIME, content_type="text/html")
    assert items(FIRST + record("http://e/", between=between)) == [page]


def test_urls_can_have_spaces() -> None:
    assert names(FIRST + record("http://e/a b&c=d e")) == ["http://e/a b&c=d e"]


def test_records_that_are_not_web_pages() -> None:
    missing = HTML.replace(b"200 OK", b"404 Not Found")
    archive = record("dns:e", b"...", "text/dns") + record("http://e/", missing)
    assert items(archive + record("ftp://e/x", b"text", "text/plain")) == [
        Skipped("dns:e", "scheme dns", TIME),
        Skipped("http://e/", "status 404", TIME),
        Page("ftp://e/x", html=b"text", fetched_at=TIME, content_type="text/plain"),
    ]


def test_a_page_above_the_limit_fails() -> None:
    assert names(record("http://e/", HTML + bytes(2_000)), 1_000) == ["http://e/ larger than 0.001 MB"]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_damage_loses_only_the_records_it_touches(pack: type[bytes]) -> None:
    first, one, three = pack(FIRST), pack(record("http://e/1")), pack(record("http://e/3"))
    assert names(first + one + bytes(99) + three) == ["http://e/1", "99 not a record", "http://e/3"]
    wrong = pack(record("http://e/2", length=9_999))
    assert names(first + one + wrong + three) == ["http://e/1", "http://e/2 wrong length in the archive", "http://e/3"]
    whole, rest = names(first + one + three[:-20])
    assert whole == "http://e/1"
    assert rest.endswith("cut off in the archive")
    assert names(b"nothing of the kind") == ["19 not a record"]
    assert items(b"") == [Damage(0, "empty file")]


@pytest.mark.parametrize("pack", [bytes, gzip.compress], ids=["plain", "gzip"])
def test_all_splits_together_have_every_item_once(pack: type[bytes], tmp_path: Path) -> None:
    archive = b"".join(map(pack, [FIRST, *(record(f"http://e/{number}") for number in range(30))]))
    path = tmp_path / "x.arc"
    path.write_bytes(archive)
    splits, parts = read_in_turn(arc, path, 500)
    assert len(splits) > 4
    assert [item for part in parts for _, item in part] == items(archive)
    assert len(items(archive)) == 30


def test_an_arc_file_is_recognized_by_its_first_bytes() -> None:
    assert arc.looks_like(FIRST)
    assert arc.looks_like(gzip.compress(FIRST) + gzip.compress(record("http://e/")))
    assert not arc.looks_like(b"Date: Sun, 16 Feb 2014 05:02:20 GMT\n")
    assert not arc.looks_like(b"WARC/1.0\r\nWARC-Type: response\r\n\r\n")
    assert not arc.looks_like(b"")


@pytest.mark.check
@pytest.mark.parametrize("line", [b"http:x 1.2.3.4 20030201 a ", b"a:b ", b"http:x 1.2.3.4 "])
def test_a_hostile_file_is_read_in_time(line: bytes) -> None:
    archive = (line * (4_096 // len(line)) + b"\n") * 100 + line * 20_000
    start = time.process_time()
    assert items(archive)
    assert time.process_time() - start < 20


@pytest.mark.parametrize("date", ["19700101000000", "20990101000000", "20031301000000"])
def test_a_date_that_cannot_be_right_is_told(date: str) -> None:
    (page,) = items(FIRST + record("http://e/").replace(b"20030201040506", date.encode()))
    assert isinstance(page, Page)
    assert (page.fetched_at, page.wrong_date) == (None, date)
