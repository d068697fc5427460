from __future__ import annotations

import gzip
import io
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from fastwarc.stream_io import Lz4Writer, ZstdWriter, zstd_train_dictionary_from_samples

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import warc
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Skipped, Split

Pack = Callable[[list[bytes]], bytes]

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
TIME = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)


def record(
    url: str = "http://e/", content: bytes = HTML + b"<p>Hello", *, kind: str = "response", **fields: str
) -> bytes:
    known = {"Type": kind, "Target-URI": url, "Date": "2020-02-03T04:05:06Z"}
    lines = [f"WARC-{name}: {value}" for name, value in known.items()]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in fields.items()]
    lines += ["Content-Type: application/http"] * ("Content_Type" not in fields and kind in ("response", "request"))
    lines += [f"Content-Length: {len(content)}"] * ("Content_Length" not in fields)
    return "\r\n".join(["WARC/1.0", *lines, "", ""]).encode() + content + b"\r\n\r\n"


SHARED_MEMBERS = ("gzip in one member", "gzip in blocks")  # several records in a member, or a record in several


def items(archive: bytes, page_bytes: int = 10 << 20) -> list[Item]:
    *found, (end, last) = warc.read_file(io.BytesIO(archive), page_bytes)
    assert (end, last) == (len(archive), None)
    assert [start for start, _ in found] == sorted(start for start, _ in found)
    return [item for _, item in found if item is not None]


def item(*args: str | bytes, **fields: str) -> Item:
    (found,) = items(record(*args, **fields))  # type: ignore[arg-type]
    return found


def gzipped(records: list[bytes]) -> bytes:
    return b"".join(map(gzip.compress, records))


def in_frames(writer: Callable[..., ZstdWriter | Lz4Writer]) -> Pack:
    def pack(records: list[bytes]) -> bytes:
        out = io.BytesIO()
        writing = writer(out)
        for content in records:
            writing.write(content)
            writing.finish()
        writing.close()
        return out.getvalue()

    return pack


def with_dictionary(records: list[bytes], *, compressed: bool = False) -> bytes:
    dictionary = zstd_train_dictionary_from_samples(
        [record(f"http://e/{n}", HTML + b"%d" % n) for n in range(200)], 2_000
    )
    writer = lambda out: ZstdWriter(out, dictionary=dictionary, compress_dictionary_frame=compressed)  # noqa: E731
    return in_frames(writer)(records)


PACKS: dict[str, Pack] = {
    "plain": b"".join,
    "gzip": gzipped,
    "gzip in one member": lambda records: gzip.compress(b"".join(records)),
    "gzip in blocks": lambda records: gzipped(
        [b"".join(records)[at : at + 999] for at in range(0, sum(map(len, records)), 999)]
    ),
    "zstd": in_frames(ZstdWriter),
    "zstd with a dictionary": with_dictionary,
    "zstd with a compressed dictionary": lambda records: with_dictionary(records, compressed=True),
    "lz4": in_frames(Lz4Writer),
}


@pytest.mark.parametrize("pack", [name for name in PACKS if name not in SHARED_MEMBERS])
def test_the_source_of_a_page_leads_to_its_record(pack: str) -> None:
    contents = [record(f"http://e/{n}", HTML + b"<p>%d" % n) for n in range(4)]
    archive = PACKS[pack](contents)
    shown = [found for found in items(archive) if isinstance(found, Page)]
    sources = [page.source for page in shown if page.source]
    assert [source[3:] for source in sources] == [("response", 200, "text/html")] * 4
    pieces = [archive[source.offset : source.offset + source.length] for source in sources]
    before = archive[: sources[0].offset]  # a dictionary, if there is one
    for page, piece in zip(shown, pieces, strict=True):
        assert items_at(before + piece, len(before)) == [page]


def items_at(archive: bytes, start: int) -> list[Item]:
    return [item for _, item in warc.read_file(io.BytesIO(archive), 10 << 20, start) if item is not None]


# --- what is a page ---------------------------------------------------------------------------------------------------


def test_a_response_is_a_page_with_its_body_as_it_came() -> None:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: Text/HTML; charset=utf-8\r\n"
    head += b"Content-Encoding: gzip\r\nTransfer-Encoding: identity, Chunked\r\nContent-Encoding: br\r\n\r\n"
    assert item("http://e/", head + b"\x1f\x8b...", WARC_Payload_Digest="sha1:ABC") == Page(
        "http://e/",
        html=b"\x1f\x8b...",
        fetched_at=TIME,
        content_type="Text/HTML; charset=utf-8",
        codings=("gzip", "br", "chunked"),
        payload_digest="sha1:ABC",
    )


@pytest.mark.parametrize("end", [b"\r\n", b"\n", b"\r\r\n"])
def test_http_headers_may_have_any_line_ends(end: bytes) -> None:
    head = end.join([b"HTTP/1.0 200", b"Content-Type: text/plain", b"", b""])
    assert item("http://e/", head + b"text") == Page(
        "http://e/", html=b"text", fetched_at=TIME, content_type="text/plain"
    )


@pytest.mark.parametrize("url", ["<http://e/>", "http://e/"])
def test_the_angle_brackets_of_old_wget_are_removed_from_urls(url: str) -> None:
    assert getattr(item(url), "url", None) == "http://e/"


def test_urls_keep_their_spaces_and_their_bytes() -> None:
    assert getattr(item("http://e/a b"), "url", None) == "http://e/a b"
    assert getattr(item("http://e/é"), "url", None) == "http://e/é"
    (found,) = items(record("http://e/@").replace(b"@", b"\xe9"))
    assert getattr(found, "url", None) == "http://e/é"


@pytest.mark.parametrize(
    ("status", "reason"),
    [(b"404 Not Found", "status 404"), (b"206 Partial", "status 206"), (b"301", "status 301"), (b"304 ", "status 304")],
)
def test_other_statuses_are_skipped(status: bytes, reason: str) -> None:
    assert item("http://e/", b"HTTP/1.1 " + status + b"\r\n\r\n<p>x") == Skipped("http://e/", reason, TIME)


@pytest.mark.parametrize("kind", ["request", "metadata", "warcinfo", "something"])
def test_records_that_are_not_captures_are_ignored(kind: str) -> None:
    assert items(record(kind=kind)) == []


@pytest.mark.parametrize(
    ("url", "scheme"), [("dns:e", "dns"), ("metadata://gnu.org/log", "metadata"), ("urn:x", "urn")]
)
def test_captures_of_other_schemes_are_skipped(url: str, scheme: str) -> None:
    assert item(url, b"text", kind="resource", Content_Type="text/plain") == Skipped(url, f"scheme {scheme}", TIME)


def test_a_record_without_a_url_or_a_type_is_skipped() -> None:
    (no_url,) = items(record().replace(b"WARC-Target-URI", b"WARC-Target"))
    (no_type,) = items(record().replace(b"WARC-Type", b"WARC-Kind"))
    assert (no_url, no_type) == (Skipped("", "no URL", TIME), Skipped("http://e/", "no record type", TIME))


def test_a_response_that_is_not_http_fails() -> None:
    found = item("http://e/", b"<p>Hello")
    assert isinstance(found, Failed)
    assert (found.page.url, found.reason) == ("http://e/", "no HTTP status")


def test_a_resource_is_a_page_if_its_type_is() -> None:
    page = item("http://e/", b"<p>Hello", kind="resource", Content_Type="text/html")
    assert page == Page("http://e/", html=b"<p>Hello", fetched_at=TIME, content_type="text/html")
    image = item("file:///x y.png", b"...", kind="resource", Content_Type="image/png")
    assert image == Skipped("file:///x y.png", "type image/png", TIME)


def test_a_conversion_is_text() -> None:
    found = item("http://e/", "Grüße \ufffd".encode() + b"\xff", kind="conversion", Content_Type="text/plain")
    assert found == Page("http://e/", text="Grüße \ufffd\ufffd", fetched_at=TIME, content_type="text/plain")


def test_a_revisit_names_the_capture_it_repeats() -> None:
    earlier = {"WARC_Refers_To_Target_URI": "<http://e/before>", "WARC_Payload_Digest": "sha1:A"}
    known = {"fetched_at": TIME, "payload_digest": "sha1:A"}
    page = item("http://e/", b"", kind="revisit", **earlier)
    assert page == Page("http://e/", revisit_of="http://e/before", **known)  # type: ignore[arg-type]
    page = item("http://e/", HTML, kind="revisit", Content_Type="application/http")
    assert page == Page("http://e/", revisit_of="http://e/", fetched_at=TIME, content_type="text/html")


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Type: image/png\r\n\r\n", "type image/png"),
        (b"HTTP/1.1 404 Not Found\r\nContent-Type: text/html\r\n\r\n", "status 404"),
    ],
)
def test_a_revisit_of_something_else_is_skipped(head: bytes, reason: str) -> None:
    assert item("http://e/", head, kind="revisit") == Skipped("http://e/", reason, TIME)
    assert isinstance(item("http://e/", b"HTTP/1.1 304 Not Modified\r\n\r\n", kind="revisit"), Page)


def test_a_page_truncated_by_the_crawler_is_a_page() -> None:
    assert isinstance(item(WARC_Truncated="length"), Page)


def test_a_continuation_is_skipped() -> None:
    assert item("http://e/", b"rest", kind="continuation") == Skipped("http://e/", "continuation of a record", TIME)


# --- large pages ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_the_size_limit_is_exact(pack: Pack) -> None:
    archive = pack([record(f"http://e/{size}", HTML + b"x" * size) for size in (999, 1_000, 1_001, 300_000, 1)])
    found = items(archive, page_bytes=1_000)
    assert [len(item.html or b"") if isinstance(item, Page) else item for item in found] == [
        999,
        1_000,
        Failed(Page("http://e/1001", html=b"", fetched_at=TIME, content_type="text/html"), "larger than 0.001 MB"),
        Failed(Page("http://e/300000", html=b"", fetched_at=TIME, content_type="text/html"), "larger than 0.001 MB"),
        1,
    ]


@pytest.mark.parametrize("pack", [gzipped, PACKS["gzip in one member"], b"".join], ids=["gzip", "one member", "plain"])
def test_a_large_page_is_not_held_in_memory(pack: Pack) -> None:
    archive = io.BytesIO(pack([record("http://e/1", HTML + bytes(1 << 25)), record("http://e/2")]))
    tracemalloc.start()
    try:
        found = [type(item).__name__ for _, item in warc.read_file(archive, 1 << 20)]
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert found == ["Failed", "Page", "NoneType"]
    assert peak < 8 << 20


# --- compression and splits -------------------------------------------------------------------------------------------


MANY = [record(f"http://e/{n}", HTML + b"<p>" + b"word %d " % n * (n % 7 * 40), kind=kind)
        for n in range(40) for kind in ("response", "request")]  # fmt: skip


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_compression_makes_no_difference(pack: Pack) -> None:
    assert items(pack(MANY)) == items(b"".join(MANY))
    assert len(items(pack(MANY))) == 40


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_a_warc_file_is_recognized_by_its_first_bytes(pack: Pack) -> None:
    assert warc.looks_like(pack(MANY)[:65_536])
    assert not warc.looks_like(pack([b"<html>" + content for content in MANY])[:65_536]) or pack in (
        PACKS["zstd with a dictionary"],  # only WARC files begin with a dictionary
        PACKS["zstd with a compressed dictionary"],
    )


@pytest.mark.parametrize("size", [1, 300, 2_000, 10_000])
@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
def test_all_splits_together_have_every_item_once(pack: Pack, size: int, tmp_path: Path) -> None:
    path = tmp_path / "a.warc"
    path.write_bytes(pack(MANY))
    splits = list(warc.splits(str(path), size))
    starts = [0]
    found: list[tuple[int, Item | None]] = []
    for split in splits:
        assert split.start == starts[-1]
        *part, (stopped, _) = warc.read(split, 1 << 20)
        found += part
        starts.append(stopped)
        assert all(split.start <= start < (split.end or stopped) for start, _ in part)
    assert [item for _, item in found] == items(b"".join(MANY))
    assert sum(split.size for split in splits) == path.stat().st_size
    if pack not in (PACKS["gzip in one member"], PACKS["gzip in blocks"]):
        assert len(splits) > 1 or size > path.stat().st_size / 2


def read_in_splits(path: Path, size: int) -> tuple[list[Item | None], int]:
    """Return the items of all splits, and how many splits began at a false start and were read from the true one."""
    found: list[Item | None] = []
    stopped = wrong = 0
    for split in warc.splits(str(path), size):
        wrong += split.start != stopped
        if split.end is None or stopped < split.end:
            *part, (stopped, _) = warc.read(replace(split, start=stopped), 1 << 20)
            found += [item for _, item in part]
    return found, wrong


@pytest.mark.parametrize("size", [100, 1_000, 3_000, 7_000])
def test_an_archive_within_an_archive_is_not_split(size: int, tmp_path: Path) -> None:
    """Members of an archive that is stored uncompressed in a record look like members of the file itself."""
    inner = gzipped(MANY[:20])
    outer = [record("http://e/a"), record("http://e/inner", HTML + inner), record("http://e/z")]
    path = tmp_path / "outer.warc.gz"
    path.write_bytes(b"".join(gzip.compress(content, 0) for content in outer))
    whole = [item for _, item in warc.read(Split("warc", str(path)), 1 << 20)][:-1]
    assert [getattr(item, "url", None) for item in whole] == ["http://e/a", "http://e/inner", "http://e/z"]
    found, wrong = read_in_splits(path, size)
    assert found == whole
    assert wrong or size > 3_000
    path.write_bytes(b"".join([*outer[:1], record("http://e/inner", HTML + b"".join(MANY)), *outer[2:]]))
    found, wrong = read_in_splits(path, size)
    assert [getattr(item, "url", None) for item in found] == ["http://e/a", "http://e/inner", "http://e/z"]
    assert not wrong  # a file without members is split between records


def test_an_empty_file_says_so() -> None:
    assert items(b"") == [Damage(0, "empty file")]


@pytest.mark.parametrize(
    "date", ["1970-01-01T00:00:00Z", "1989", "2099-01-01T00:00:00Z", "2008-10-294T01:02:03Z", "now"]
)
@pytest.mark.parametrize("kind", ["response", "revisit"])
def test_a_date_that_cannot_be_right_is_unknown(kind: str, date: str) -> None:
    (found,) = items(record(kind=kind).replace(b"2020-02-03T04:05:06Z", date.encode()))
    assert isinstance(found, Page)
    assert (found.fetched_at, found.wrong_date) == (None, date)
