"""Captures are written to WARC and WACZ files, and come back as they were, on both kinds of store."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import zipfile
from base64 import b32encode
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

import pytest
from warcio.archiveiterator import ArchiveIterator

from opensearch_winnow import Filters, Index, QuestionError
from opensearch_winnow.mappings.card import CaptureEntry
from opensearch_winnow.mappings.record import Record
from tests.test_index import near, prose

DAY = datetime(2026, 3, 1, tzinfo=UTC)


def page(text: str) -> bytes:
    return f"<title>{text[:12]}</title><p>{text}".encode()


# Two copies, byte by byte; a near-duplicate of them; another page; and one whose body is compressed.
PAGES = {
    "http://a.example/": page(prose(1, 200)),
    "http://copy.example/": page(prose(1, 200)),
    "http://near.example/": page(near(prose(1, 200), 2, 2)),
    "http://other.example/?q=1": page(prose(3, 200)),
    "http://packed.example/": gzip.compress(page(prose(4, 200)), mtime=0),
}


def archive(path: Path, pages: dict[str, bytes] = PAGES, *, gzipped: bool = True) -> Path:
    """Write a WARC file, one page a day."""
    pack = gzip.compress if gzipped else bytes
    path.write_bytes(b"".join(pack(record(number, *each)) for number, each in enumerate(pages.items())))
    return path


def record(number: int, url: str, body: bytes) -> bytes:
    coding = "Content-Encoding: gzip\r\n" if body.startswith(b"\x1f\x8b") else ""
    head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n{coding}X: {number}\r\n\r\n"
    content = head.encode() + body
    digest = b32encode(hashlib.sha1(body, usedforsecurity=False).digest()).decode()
    fields = {
        "WARC-Type": "response",
        "WARC-Record-ID": f"<urn:uuid:00000000-0000-0000-0000-{number:012}>",
        "WARC-Date": (DAY + timedelta(number)).isoformat().replace("+00:00", "Z"),
        "WARC-Target-URI": url,
        "WARC-Payload-Digest": f"sha1:{digest}",
        "Content-Type": "application/http; msgtype=response",
        "Content-Length": str(len(content)),
    }
    lines = [f"{name}: {value}" for name, value in fields.items()]
    return "\r\n".join(["WARC/1.1", *lines, "", ""]).encode() + content + b"\r\n\r\n"


def records_of(index: Index) -> list[Record]:
    """Return all records, without what another place of the bytes changes."""
    found = sorted(index.store.scan(Record), key=lambda record: record.url)
    places = [each.source and each.source._replace(file="", offset=0, length=0) for each in found]
    return [replace(each, crawl="", source=place) for each, place in zip(found, places, strict=True)]


def reindexed(archive: Path, tmp_path: Path) -> list[Record]:
    with Index.open(tmp_path / f"{archive.name}.winnow") as again:
        again.index(archive)
        return records_of(again)


@pytest.mark.check
@pytest.mark.parametrize("name", ["out.warc.gz", "out.warc", "out.wacz"])
@pytest.mark.parametrize("gzipped", [True, False])
def test_what_went_out_and_came_in_again_is_the_same(index: Index, tmp_path: Path, name: str, gzipped: bool) -> None:
    index.index(archive(tmp_path / "in.warc", gzipped=gzipped))
    report = index.extract(tmp_path / name)
    assert (report.records, report.revisits, report.listed) == (5, 0, None)
    assert report.bytes == (tmp_path / name).stat().st_size
    assert reindexed(tmp_path / name, tmp_path) == records_of(index)
    with Index.open(tmp_path / "again.winnow") as again:
        again.index(tmp_path / name)
        again.extract(tmp_path / f"again-{name}")
    first, second = (read(tmp_path / each) for each in (name, f"again-{name}"))
    assert [each.header for each in second] == [each.header for each in first]


class Read(NamedTuple):
    """A record as warcio reads it."""

    header: dict[str, str]
    payload: bytes


def read(source: Path | bytes) -> list[Read]:
    content = source if isinstance(source, bytes) else source.read_bytes()
    if isinstance(source, Path) and source.suffix == ".wacz":
        content = zipfile.ZipFile(source).read("archive/data.warc.gz")
    found = ArchiveIterator(io.BytesIO(content), check_digests="raise")
    records = [Read(dict(each.rec_headers.headers), each.content_stream().read()) for each in found]
    return [each for each in records if each.header["WARC-Type"] != "warcinfo"]


@pytest.mark.check
def test_equal_payloads_become_revisits_and_near_ones_are_listed(empty_index: Index, tmp_path: Path) -> None:
    empty_index.index(archive(tmp_path / "in.warc.gz"))
    empty_index.cluster()
    target = tmp_path / "small.warc.gz"
    report = empty_index.extract(target, representatives=True)
    assert (report.records, report.revisits) == (3, 1)
    assert report.left_out == {"near-duplicate of a representative": 1}
    assert report.listed == tmp_path / "small.warc.gz.left-out.csv"
    with report.listed.open(newline="") as file:
        (listed,) = csv.DictReader(file)
    assert (listed["url"], listed["outcome"]) == ("http://near.example/", "left out")
    found = {each.header["WARC-Target-URI"]: each for each in read(target)}
    revisit, original = found["http://copy.example/"].header, found["http://a.example/"].header
    assert (revisit["WARC-Type"], original["WARC-Type"]) == ("revisit", "response")
    assert revisit["WARC-Refers-To"] == original["WARC-Record-ID"]
    assert revisit["WARC-Refers-To-Date"] == original["WARC-Date"]
    assert revisit["WARC-Payload-Digest"] == original["WARC-Payload-Digest"]
    assert found["http://copy.example/"].payload == b""
    texts = {record.url: record.text for record in empty_index.store.scan(Record)}
    assert {each.url: each.text for each in reindexed(target, tmp_path)} == {url: texts[url] for url in found}


@pytest.mark.check_on_engine
def test_captures_are_chosen_by_filters_or_ids(empty_index: Index, tmp_path: Path) -> None:
    empty_index.index(archive(tmp_path / "in.warc.gz"), crawl="march")
    ids = {record.url: record.id for record in empty_index.store.scan(Record)}
    for name, chosen, urls in (
        ("site.warc.gz", {"where": Filters(site="a.example")}, ["http://a.example/"]),
        ("until.warc.gz", {"where": Filters(until=DAY + timedelta(2))}, list(PAGES)[:2]),
        ("ids.warc.gz", {"ids": [ids["http://near.example/"]]}, ["http://near.example/"]),
    ):
        empty_index.extract(tmp_path / name, **chosen)
        found = read(tmp_path / name)
        assert [each.header["WARC-Target-URI"] for each in found] == urls
    report = empty_index.extract(tmp_path / "none.warc.gz", ids=["0" * 32])
    assert (report.records, report.failed) == (0, {"not in the store": 1})
    assert not (tmp_path / "none.warc.gz").exists()
    empty_index.extract(tmp_path / "all.warc.gz", revisits=True)
    kinds = [each.header["WARC-Type"] for each in read(tmp_path / "all.warc.gz")]
    assert kinds == ["response", "revisit", "response", "response", "response"]


@pytest.mark.check
def test_a_chosen_revisit_brings_its_original(tmp_path: Path) -> None:
    with Index.open(tmp_path / "first.winnow") as first:
        first.index(archive(tmp_path / "in.warc.gz"))
        first.extract(tmp_path / "revisits.warc.gz", revisits=True)
    with Index.open(tmp_path / "second.winnow") as second:
        second.index(tmp_path / "revisits.warc.gz")
        report = second.extract(tmp_path / "one.warc.gz", where=Filters(site="copy.example"))
        assert (report.records, report.originals) == (2, 1)
        found = read(tmp_path / "one.warc.gz")
        assert [each.header["WARC-Type"] for each in found] == ["response", "revisit"]
        report = second.extract(tmp_path / "all.warc.gz")
        assert (report.records, report.originals) == (5, 0)
        assert reindexed(tmp_path / "all.warc.gz", tmp_path) == records_of(second)


def test_archives_that_have_moved_changed_or_vanished(index: Index, tmp_path: Path) -> None:
    source = archive(tmp_path / "in.warc.gz")
    index.index(source)
    (tmp_path / "cold").mkdir()
    source.rename(tmp_path / "cold" / source.name)
    report = index.extract(tmp_path / "out.warc.gz")
    assert report.failed == {"the archive is not where it was indexed": 5}
    assert not (tmp_path / "out.warc.gz").exists()
    report = index.extract(tmp_path / "out.warc.gz", archives=[tmp_path / "cold"], overwrite=True)
    assert (report.records, report.failed) == (5, {})
    archive(source, dict(list(PAGES.items())[::-1]))
    report = index.extract(tmp_path / "out.warc.gz", overwrite=True)
    assert report.failed["the archive has changed since it was indexed"] >= 4
    moved = tmp_path / "cold" / source.name
    moved.write_bytes(moved.read_bytes()[:-40])
    report = index.extract(tmp_path / "out.warc.gz", archives=[tmp_path / "cold"], overwrite=True)
    assert (report.records, report.failed) == (4, {"cut off in the archive": 1})
    source.unlink()
    moved.unlink()
    report = index.extract(tmp_path / "out.warc.gz", archives=[tmp_path / "cold"], overwrite=True)
    assert report.failed == {"the archive is neither where it was indexed nor in the given folders": 5}


@pytest.mark.check
def test_every_archive_of_that_name_is_tried(index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Archives of the same name are told apart by their records, in subfolders, too; folders are listed once."""
    halves = [dict(list(PAGES.items())[:2]), dict(list(PAGES.items())[2:])]
    for folder, pages in zip("ab", halves, strict=True):
        (tmp_path / folder).mkdir()
        index.index(archive(tmp_path / folder / "in.warc.gz", pages))
    (tmp_path / "one" / "deep").mkdir(parents=True)
    (tmp_path / "a").rename(tmp_path / "one" / "deep" / "a")
    (tmp_path / "b").rename(tmp_path / "two")
    folders = [tmp_path / "one", tmp_path / "two"]
    listed: list[str] = []
    walk = os.walk

    def noting(top: Path) -> Iterator[tuple[str, list[str], list[str]]]:
        listed.append(top.name)
        return walk(str(top))

    monkeypatch.setattr(os, "walk", noting)
    for archives in (folders, folders[::-1]):
        report = index.extract(tmp_path / "out.warc.gz", archives=archives, overwrite=True)
        assert (report.records, report.failed) == (5, {})
    assert listed == ["one", "two", "two", "one"]
    archive(tmp_path / "two" / "in.warc.gz", {"http://new.example/": page(prose(9, 100))})
    report = index.extract(tmp_path / "out.warc.gz", archives=folders, overwrite=True)
    assert (report.records, report.failed) == (2, {"the archive has changed since it was indexed": 3})


def test_only_the_record_that_was_indexed_is_copied(index: Index, tmp_path: Path) -> None:
    """A request has the URL and the time of its response; another archive may have other bytes for both."""
    url, body = "http://a.example/", page(prose(1, 200))
    request = record(0, url, b"").replace(b"WARC-Type: response", b"WARC-Type: request")
    (tmp_path / "in.warc.gz").write_bytes(gzip.compress(request + record(0, url, body)))
    index.index(tmp_path / "in.warc.gz")
    index.extract(tmp_path / "out.warc.gz")
    (found,) = read(tmp_path / "out.warc.gz")
    assert (found.header["WARC-Type"], found.payload) == ("response", body)
    archive(tmp_path / "in.warc.gz", {url: page(prose(2, 200))})
    report = index.extract(tmp_path / "out.warc.gz", overwrite=True)
    assert report.failed == {"the archive has changed since it was indexed": 1}


@pytest.mark.parametrize("moved", ["crawls/day.wacz", "unpacked/data.warc.gz"])
def test_an_archive_in_a_zip_file_has_moved(index: Index, tmp_path: Path, moved: str) -> None:
    archive(tmp_path / "data.warc.gz")
    with zipfile.ZipFile(tmp_path / "day.wacz", "w") as zipped:
        zipped.write(tmp_path / "data.warc.gz", "archive/data.warc.gz")
    index.index(tmp_path / "day.wacz")
    target = tmp_path / "cold" / moved
    target.parent.mkdir(parents=True)
    (tmp_path / ("day.wacz" if moved.endswith(".wacz") else "data.warc.gz")).rename(target)
    (tmp_path / "day.wacz").unlink(missing_ok=True)
    (tmp_path / "cold" / "archive").write_text("a file with the name of a folder")
    report = index.extract(tmp_path / "out.warc.gz", archives=[tmp_path / "cold"])
    assert (report.records, report.failed) == (5, {})


def test_pages_that_are_in_no_archive_are_left_out(index: Index, tmp_path: Path) -> None:
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages" / "a.html").write_bytes(page(prose(1, 100)))
    index.index([tmp_path / "pages", archive(tmp_path / "in.warc.gz")])
    report = index.extract(tmp_path / "out.warc.gz")
    assert (report.records, report.left_out) == (5, {"not indexed from a web archive": 1})
    with pytest.raises(QuestionError, match=r"out\.zip does not end in \.warc\.gz, \.warc or \.wacz"):
        index.extract(tmp_path / "out.zip")


@pytest.mark.check
def test_records_of_an_arc_file_become_warc_records(index: Index, tmp_path: Path) -> None:
    body = b"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\n\r\n" + page(prose(1, 100))
    line = f"http://old.example/ 10.0.0.1 20010203040506 text/html {len(body)}\n".encode()
    first = b"filedesc://a.arc 0.0.0.0 20010203040506 text/plain 14\n1 0 Alexa\nURL\n\n"
    (tmp_path / "a.arc").write_bytes(first + line + body + b"\n")
    index.index(tmp_path / "a.arc")
    index.extract(tmp_path / "out.warc.gz")
    (found,) = read(tmp_path / "out.warc.gz")
    assert found.header["WARC-Date"] == "2001-02-03T04:05:06Z"
    (before,), (after,) = records_of(index), reindexed(tmp_path / "out.warc.gz", tmp_path)
    assert after == replace(before, payload_digest=found.header["WARC-Payload-Digest"])


def test_a_wacz_file_has_an_index_and_a_list_of_pages(index: Index, tmp_path: Path) -> None:
    index.index(archive(tmp_path / "in.warc.gz"))
    index.extract(tmp_path / "out.wacz")
    with zipfile.ZipFile(tmp_path / "out.wacz") as zipped:
        lines = zipped.read("indexes/index.cdxj").decode().splitlines()
        warc = zipped.read("archive/data.warc.gz")
        pages = [json.loads(line) for line in zipped.read("pages/pages.jsonl").splitlines()]
        package = json.loads(zipped.read("datapackage.json"))
    assert lines == sorted(lines)
    assert lines[0].startswith("example,a)/ 20260301000000 {")
    for line in lines:
        entry = json.loads(line.split(" ", 2)[2])
        (found,) = read(warc[int(entry["offset"]) :][: int(entry["length"])])
        assert (found.header["WARC-Target-URI"], entry["mime"]) == (entry["url"], "text/html")
        assert entry["filename"] == "data.warc.gz"
    assert [each.get("url") for each in pages] == [None, *PAGES]
    paths = {"archive/data.warc.gz", "indexes/index.cdxj", "pages/pages.jsonl"}
    assert {each["path"] for each in package["resources"]} == paths


def test_records_that_share_a_member_are_told_apart(index: Index, tmp_path: Path) -> None:
    plain = archive(tmp_path / "plain.warc", gzipped=False).read_bytes()
    (tmp_path / "in.warc.gz").write_bytes(gzip.compress(plain))
    index.index(tmp_path / "in.warc.gz")
    entries = list(index.store.scan(CaptureEntry))
    assert {entry.source[1:3] for entry in entries if entry.source} == {(0, 0)}  # no length: it is not alone
    index.extract(tmp_path / "out.warc.gz")
    assert reindexed(tmp_path / "out.warc.gz", tmp_path) == records_of(index)
