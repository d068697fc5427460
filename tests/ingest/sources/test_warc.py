from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fastwarc.stream_io import ZstdWriter, zstd_train_dictionary_from_samples

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import warc
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Skipped, Split
from tests.ingest.sources.archives import HTML, items_of, little_memory, lz4, read_in_turn, record, urls, zstd

Pack = Callable[[list[bytes]], bytes]

TIME = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)


def items(archive: bytes, page_bytes: int = 10 << 20) -> list[Item]:
    return items_of(warc, archive, page_bytes)


def each(pack: Callable[[bytes], bytes]) -> Pack:
    return lambda records: b"".join(map(pack, records))


gzipped = each(gzip.compress)


def in_blocks(records: list[bytes]) -> bytes:
    whole = b"".join(records)
    return gzipped([whole[at : at + 999] for at in range(0, len(whole), 999)])


def with_dictionary(records: list[bytes], *, compressed: bool = False) -> bytes:
    dictionary = zstd_train_dictionary_from_samples([record(n, HTML + b"%d" % n) for n in range(200)], 2_000)
    out = io.BytesIO()
    writing = ZstdWriter(out, dictionary=dictionary, compress_dictionary_frame=compressed)
    for content in records:
        writing.write(content)
        writing.finish()
    writing.close()
    return out.getvalue()


PACKS: dict[str, Pack] = {
    "plain": b"".join,
    "gzip": gzipped,
    "gzip in one member": lambda records: gzip.compress(b"".join(records)),
    "gzip in blocks": in_blocks,
    "zstd": each(zstd),
    "zstd with a dictionary": with_dictionary,
    "zstd with a compressed dictionary": partial(with_dictionary, compressed=True),
    "lz4": each(lz4),
}
SHARED_MEMBERS = ("gzip in one member", "gzip in blocks")  # several records in a member, or a record in several
each_pack = pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)


@pytest.mark.parametrize("pack", [name for name in PACKS if name not in SHARED_MEMBERS])
def test_the_source_of_a_page_leads_to_its_record(pack: str) -> None:
    archive = PACKS[pack]([record(n, HTML + b"<p>%d" % n) for n in range(4)])
    shown = [found for found in items(archive) if isinstance(found, Page)]
    sources = [page.source for page in shown if page.source]
    assert [source[:1] + source[3:] for source in sources] == [("a.warc", "response", 200, "text/html")] * 4
    before = archive[: sources[0].offset]  # a dictionary, if there is one
    for page, source in zip(shown, sources, strict=True):
        piece = before + archive[source.offset : source.offset + source.length]
        assert [item for _, item in warc.read_file(io.BytesIO(piece), 10 << 20, len(before)) if item] == [page]


def page(url: str = "http://e/", **known: Any) -> Page:
    return Page(url, **{"fetched_at": TIME, "content_type": "text/html", **known})


def answer(status: str, **fields: str) -> bytes:
    """Return a response, or a revisit, without a body."""
    return record(content=f"HTTP/1.1 {status}\r\n\r\n".encode(), **fields)


def skipped(reason: str, url: str = "http://e/") -> Skipped:
    return Skipped(url, reason, TIME)


def resource(url: str, content_type: str) -> bytes:
    return record(url, b"<p>Hello", kind="resource", Content_Type=content_type)


HELLO = page(html=b"<p>Hello")
PLAIN = page(html=b"text", content_type="text/plain")
CODED = (
    b"HTTP/1.1 200 OK\r\ncontent-type: Text/HTML; charset=utf-8\r\nContent-Encoding: gzip\r\n"
    b"Transfer-Encoding: identity, Chunked\r\nContent-Encoding: br\r\n\r\n\x1f\x8b..."
)
KEPT: dict[str, Any] = {"codings": ("gzip", "br", "chunked"), "payload_digest": "sha1:ABC"}
KEPT["content_type"] = "Text/HTML; charset=utf-8"
OTHER_URL = {"WARC_Refers_To_Target_URI": "<http://e/before>", "WARC_Payload_Digest": "sha1:A"}


@pytest.mark.parametrize(
    ("archive", "item"),
    [
        (record(content=CODED, WARC_Payload_Digest="sha1:ABC"), page(html=b"\x1f\x8b...", **KEPT)),
        *(
            (record(content=end.join([b"HTTP/1.0 200", b"Content-Type: text/plain", b"", b"text"])), PLAIN)
            for end in (b"\r\n", b"\n", b"\r\r\n")
        ),
        (record("<http://e/>"), HELLO),  # as old Wget writes it
        (record("http://e/"), HELLO),
        (record("http://e/a b"), replace(HELLO, url="http://e/a b")),
        (record("http://e/é"), replace(HELLO, url="http://e/é")),
        (record("http://e/@").replace(b"@", b"\xe9"), replace(HELLO, url="http://e/é")),
        (record(WARC_Truncated="length"), HELLO),
        (answer("404 Not Found"), skipped("status 404")),
        (answer("206 Partial"), skipped("status 206")),
        (answer("301"), skipped("status 301")),
        (answer("304 "), skipped("status 304")),
        (resource("dns:e", "text/plain"), skipped("scheme dns", "dns:e")),
        (resource("metadata://gnu.org/log", "text/plain"), skipped("scheme metadata", "metadata://gnu.org/log")),
        (resource("urn:x", "text/plain"), skipped("scheme urn", "urn:x")),
        (resource("http://e/", "text/html"), HELLO),
        (resource("file:///x y.png", "image/png"), skipped("type image/png", "file:///x y.png")),
        (record().replace(b"WARC-Target-URI", b"WARC-Target"), skipped("no URL", "")),
        (record().replace(b"WARC-Type", b"WARC-Kind"), skipped("no record type")),
        (
            record(content=b"\xc3\xbc \xef\xbf\xbd\xff", kind="conversion"),
            page(text="ü \ufffd\ufffd", content_type="text/plain"),
        ),
        (record(content=b"rest", kind="continuation"), skipped("continuation of a record")),
        (record(content=HTML, kind="revisit", Content_Type="application/http"), page(revisit_of="http://e/")),
        (
            record(content=b"", kind="revisit", **OTHER_URL),
            page(revisit_of="http://e/before", payload_digest="sha1:A", content_type=None),
        ),
        (answer("304 Not Modified", kind="revisit"), page(revisit_of="http://e/", content_type=None)),
        (answer("200 OK\r\nContent-Type: image/png", kind="revisit"), skipped("type image/png")),
        (answer("404 Not Found\r\nContent-Type: text/html", kind="revisit"), skipped("status 404")),
    ],
)
def test_a_record_becomes_an_item(archive: bytes, item: Item) -> None:
    assert items(archive) == [item]


@pytest.mark.parametrize("kind", ["request", "metadata", "warcinfo", "something"])
def test_records_that_are_not_captures_are_ignored(kind: str) -> None:
    assert items(record(kind=kind)) == []


def test_a_response_that_is_not_http_fails() -> None:
    (found,) = items(record(content=b"<p>Hello"))
    assert isinstance(found, Failed)
    assert (found.page.url, found.reason) == ("http://e/", "no HTTP status")


def test_an_empty_file_says_so() -> None:
    assert items(b"") == [Damage(0, "empty file")]


@pytest.mark.parametrize(
    "date", ["1970-01-01T00:00:00Z", "1989", "2099-01-01T00:00:00Z", "2008-10-294T01:02:03Z", "now"]
)
@pytest.mark.parametrize("kind", ["response", "revisit"])
def test_a_date_that_cannot_be_right_is_unknown(kind: str, date: str) -> None:
    (found,) = items(record(kind=kind, WARC_Date=date))
    assert isinstance(found, Page)
    assert (found.fetched_at, found.wrong_date) == (None, date)


@each_pack
def test_the_size_limit_is_exact(pack: Pack) -> None:
    archive = pack([record(size, HTML + b"x" * size) for size in (999, 1_000, 1_001, 300_000, 1)])
    assert items(archive, page_bytes=1_000) == [
        page("http://e/999", html=b"x" * 999),
        page("http://e/1000", html=b"x" * 1_000),
        Failed(page("http://e/1001", html=b""), "larger than 0.001 MB"),
        Failed(page("http://e/300000", html=b""), "larger than 0.001 MB"),
        page("http://e/1", html=b"x"),
    ]


@pytest.mark.parametrize("pack", ["gzip", "gzip in one member", "plain"])
def test_a_large_page_is_not_held_in_memory(pack: str) -> None:
    archive = io.BytesIO(PACKS[pack]([record(1, HTML + bytes(1 << 25)), record(2)]))
    with little_memory(8 << 20):
        assert [type(item).__name__ for _, item in warc.read_file(archive, 1 << 20)] == ["Failed", "Page", "NoneType"]


MANY = [record(n, HTML + b"<p>" + b"word %d " % n * (n % 7 * 40), kind=kind)
        for n in range(40) for kind in ("response", "request")]  # fmt: skip


@each_pack
def test_a_warc_file_is_recognized_by_its_first_bytes_and_read_in_any_compression(pack: Pack) -> None:
    assert items(pack(MANY)) == items(b"".join(MANY))
    assert len(items(pack(MANY))) == 40
    assert warc.looks_like(pack(MANY)[:65_536])
    dictionaries = (PACKS["zstd with a dictionary"], PACKS["zstd with a compressed dictionary"])
    other = pack([b"<html>" + content for content in MANY])[:65_536]
    assert warc.looks_like(other) == (pack in dictionaries)  # only WARC files begin with a dictionary


@pytest.mark.parametrize("size", [1, 300, 2_000, 10_000])
@each_pack
def test_all_splits_together_have_every_item_once(pack: Pack, size: int, tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(pack(MANY))
    splits, parts = read_in_turn(warc, path, size)
    assert [item for part in parts for _, item in part] == items(b"".join(MANY))
    assert all(not s.end or start < s.end for s, part in zip(splits, parts, strict=True) for start, _ in part)
    assert sum(split.size for split in splits) == path.stat().st_size
    if pack not in (PACKS["gzip in one member"], PACKS["gzip in blocks"]):
        assert len(splits) > 1 or size > path.stat().st_size / 2


def read_in_splits(path: Path, size: int) -> tuple[list[Item], int]:
    """Return the items of all splits, and how many splits began at a false start and were read from the true one."""
    found: list[Item] = []
    stopped = wrong = 0
    for split in warc.splits(str(path), size):
        wrong += split.start != stopped
        if split.end is None or stopped < split.end:
            *part, (stopped, _) = warc.read(replace(split, start=stopped), 1 << 20)
            found += [item for _, item in part if item]
    return found, wrong


@pytest.mark.parametrize("size", [100, 1_000, 3_000, 7_000])
def test_an_archive_within_an_archive_is_not_split(size: int, tmp_path: Path) -> None:
    """Members of an archive that is stored uncompressed in a record look like members of the file itself."""
    first, last = record("http://e/a"), record("http://e/z")
    contents = [first, record("http://e/inner", HTML + gzipped(MANY[:20])), last]
    path = tmp_path / "outer.warc.gz"
    path.write_bytes(b"".join(gzip.compress(content, 0) for content in contents))
    whole = [item for _, item in warc.read(Split("warc", str(path)), 1 << 20)][:-1]
    found, wrong = read_in_splits(path, size)
    assert found == whole
    assert urls(found) == ["http://e/a", "http://e/inner", "http://e/z"]
    assert wrong or size > 3_000
    path.write_bytes(first + record("http://e/inner", HTML + b"".join(MANY)) + last)
    found, wrong = read_in_splits(path, size)
    assert urls(found) == ["http://e/a", "http://e/inner", "http://e/z"]
    assert not wrong  # a file without members is split between records
