"""Extracting tells which revisits lack their original, which dates are not valid, and what is no page."""

from __future__ import annotations

import csv
import gzip
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from opensearch_winnow import Filters, Index, Page
from opensearch_winnow.foundation.written_time import EPOCH
from opensearch_winnow.mappings.record import Record
from tests.operations.crawls.test_extract import DAY, PAGES, archive, page, read, record
from tests.test_index import prose

pytestmark = pytest.mark.check  # each of them starts workers several times


def revisit(number: int, url: str, original: bytes) -> bytes:
    """Return a revisit record that repeats the payload of the record `original`."""
    digest = next(line for line in original.splitlines() if line.startswith(b"WARC-Payload-Digest"))
    made = record(number, url, b"").replace(b"WARC-Type: response", b"WARC-Type: revisit")
    return b"\r\n".join(digest if line.startswith(b"WARC-Payload-Digest") else line for line in made.split(b"\r\n"))


def test_revisits_of_a_representative_are_kept_and_those_without_an_original_are_told(
    index: Index, tmp_path: Path
) -> None:
    urls = list(PAGES)[:2]
    original, other = record(0, urls[0], PAGES[urls[0]]), record(1, urls[1], page(prose(5, 200)))
    (tmp_path / "one.warc.gz").write_bytes(gzip.compress(original))
    both = revisit(2, urls[0], original), revisit(3, urls[1], other)
    (tmp_path / "two.warc.gz").write_bytes(b"".join(map(gzip.compress, both)))
    assert index.index(tmp_path / "two.warc.gz", crawl="two").unfilled_revisits == 2
    assert index.index(tmp_path / "one.warc.gz", crawl="one").unfilled_revisits == 0
    assert {record.hashes.text_digest != "" for record in index.store.scan(Record, Filters(site="a.example"))} == {True}
    index.cluster()
    report = index.extract(tmp_path / "small.warc.gz", where=Filters(site="a.example"), representatives=True)
    assert (report.records, report.left_out, report.unresolved, report.listed) == (2, {}, 0, None)
    found = read(tmp_path / "small.warc.gz")
    assert [each.header["WARC-Type"] for each in found] == ["response", "revisit"]
    report = index.extract(tmp_path / "two-again.warc.gz", where=Filters(crawl="two"))
    assert (report.records, report.originals, report.unresolved) == (3, 1, 1)
    assert report.listed is not None
    with report.listed.open(newline="") as file:
        (listed,) = csv.DictReader(file)
    assert (listed["url"], listed["outcome"]) == (urls[1], "written")
    (tmp_path / "one.warc.gz").unlink()
    report = index.extract(tmp_path / "without.warc.gz", where=Filters(crawl="two"))
    assert (report.records, report.unresolved, report.failed) == (2, 2, {})


def test_a_revisit_that_comes_first_is_found_and_unchanged(index: Index, tmp_path: Path) -> None:
    url = next(iter(PAGES))
    original = record(0, url, PAGES[url])
    (tmp_path / "one.warc.gz").write_bytes(gzip.compress(original))
    (tmp_path / "two.warc.gz").write_bytes(gzip.compress(revisit(2, url, original)))
    index.index(tmp_path / "two.warc.gz", crawl="two")
    index.index(tmp_path / "one.warc.gz", crawl="one")
    words = " ".join(index.page(url).text.split()[:5])
    assert index.search(f'"{words}"', all_captures=True).total == 2
    changes = index.changes("one", "two")
    assert {kind: count for kind, count in changes.counts.items() if count} == {"unchanged": 1}
    assert index.history(url)[-1].resemblance == 1.0


def test_what_is_no_page_is_counted(index: Index, tmp_path: Path) -> None:
    picture = record(7, "http://a.example/i.png", b"PNG").replace(b"text/html; charset=utf-8", b"image/png")
    gone = record(8, "http://a.example/gone", b"").replace(b"200 OK", b"404 No")
    pages = archive(tmp_path / "in.warc.gz").read_bytes()
    (tmp_path / "in.warc.gz").write_bytes(pages + b"".join(map(gzip.compress, map(with_length, (picture, gone)))))
    index.index(tmp_path / "in.warc.gz")
    report = index.extract(tmp_path / "out.warc.gz", where=Filters(site="a.example"))
    assert (report.records, report.no_pages) == (1, {"type image/png": 1, "status 404": 1})


def with_length(record: bytes) -> bytes:
    header, content = record.removesuffix(b"\r\n\r\n").split(b"\r\n\r\n", 1)
    lines = [line for line in header.split(b"\r\n") if not line.startswith(b"Content-Length")]
    return b"\r\n".join([*lines, b"Content-Length: %d" % len(content), b"", content, b"", b""])


DATES = ["1970-01-01T00:00:00Z", "1980-01-01T00:00:00Z", "2099-01-01T00:00:00Z", "2023-13-45T00:00:00Z", "yesterday"]


def with_date(number: int, date: str) -> bytes:
    made = record(number, f"http://a.example/{number}", page(f"{prose(1, 200)} {number}"))
    return made.replace((DAY + timedelta(number)).isoformat().replace("+00:00", "Z").encode(), date.encode())


def test_a_record_without_a_date_gets_that_of_the_run(index: Index, tmp_path: Path) -> None:
    dated = with_date(1, "")
    (tmp_path / "in.warc").write_bytes(dated.replace(b"WARC-Date: \r\n", b""))
    assert b"WARC-Date" in dated
    assert b"WARC-Date" not in (tmp_path / "in.warc").read_bytes()
    index.index(tmp_path / "in.warc", date=DAY)
    assert index.extract(tmp_path / "out.warc.gz").records == 1
    (found,) = read(tmp_path / "out.warc.gz")
    assert found.header["WARC-Date"] == "2026-03-01T00:00:00Z"


def test_impossible_dates_are_told_and_count_as_unknown(tmp_path: Path) -> None:
    dated = [gzip.compress(with_date(number, date)) for number, date in enumerate([*DATES, "2026-03-09T00:00:00Z"])]
    (tmp_path / "in.warc.gz").write_bytes(b"".join(dated))
    with Index.open(tmp_path / "crawl.winnow") as index:
        report = index.index(tmp_path / "in.warc.gz")
        assert (report.indexed, report.wrong_dates, report.wrong_date) == (6, 5, DATES[0])
        times = [record.fetched_at for record in index.store.scan(Record)]
        assert times == [None] * 5 + [datetime(2026, 3, 9, tzinfo=UTC)]
        index.cluster()
        assert {record.cluster for record in index.store.scan(Record)} == {list(index.store.scan(Record))[-1].id}
        extracted = index.extract(tmp_path / "out.warc.gz")
        assert (extracted.records, extracted.left_out.total(), extracted.failed) == (4, 2, {})
        found = read(tmp_path / "out.warc.gz")
        assert [each.header["WARC-Date"] for each in found] == [*DATES[:3], "2026-03-09T00:00:00Z"]
    with Index.open(tmp_path / "dated.winnow") as index:
        index.index(tmp_path / "in.warc.gz", date=DAY)
        assert (index.extract(tmp_path / "dated.warc.gz").records, index.store.count(Filters(until=DAY))) == (6, 0)
        found = read(tmp_path / "dated.warc.gz")
        assert {each.header["WARC-Date"] for each in found[:5]} == {"2026-03-01T00:00:00Z"}


def test_impossible_dates_of_pages_in_memory_are_counted(index: Index) -> None:
    future = datetime(2099, 1, 1, tzinfo=UTC)
    pages = [Page(f"https://a.example/{time:%Y}", text="A text.", fetched_at=time) for time in (future, EPOCH, DAY)]
    report = index.add(pages)
    assert (report.indexed, report.wrong_dates, report.wrong_date) == (3, 2, "2099-01-01T00:00:00Z")
    assert [record.fetched_at for record in index.store.scan(Record)] == [None, None, DAY]
    assert pages[0].fetched_at == future  # it is the caller's
