"""Damaged WARC files: whole records are read, damaged ones fail or are counted, and no loss is silent."""

from __future__ import annotations

import gzip
import io
import random
import time
from collections.abc import Callable
from itertools import accumulate

import pytest
from fastwarc.stream_io import ZstdWriter
from hypothesis import given, settings
from hypothesis import strategies as st

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import warc
from opensearch_winnow.ingest.sources.archive_records import NOT_A_RECORD, WRONG_LENGTH
from opensearch_winnow.ingest.sources.members import CUT_OFF, DAMAGED
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Skipped

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def record(
    number: int, content: bytes = HTML + b"<p>Hello", *, kind: str = "response", length: str | None = None
) -> bytes:
    head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: http://e/{number}\r\nContent-Type: application/http\r\n"
    head += f"Content-Length: {len(content) if length is None else length}\r\n\r\n"
    return head.encode() + content + b"\r\n\r\n"


def zstd(content: bytes) -> bytes:
    out = io.BytesIO()
    with ZstdWriter(out) as writer:
        writer.write(content)
    return out.getvalue()


Pack = Callable[[bytes], bytes]
PACKS: dict[str, Pack] = {"plain": bytes, "gzip": gzip.compress, "zstd": zstd}
packed = pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)


def items(archive: bytes) -> list[Item]:
    *found, (end, last) = warc.read_file(io.BytesIO(archive), 1 << 20)
    assert (end, last) == (len(archive), None)
    assert [start for start, _ in found] == sorted(start for start, _ in found)
    return [item for _, item in found if item is not None]


def outcomes(archive: bytes) -> list[tuple[object, ...]]:
    """Return pages and failed pages by their numbers, and damage by its size."""
    found: list[tuple[object, ...]] = []
    for item in items(archive):
        if isinstance(item, Failed):
            assert not item.page.html
            found.append((item.page.url[9:], item.reason))
        else:
            found.append((item.skipped, item.reason) if isinstance(item, Damage) else (item.url[9:],))
    return found


# --- any damage -------------------------------------------------------------------------------------------------------


@pytest.mark.check
@settings(max_examples=300)
@given(data=st.data(), pack=st.sampled_from(["plain", "gzip", "zstd"]))
def test_damage_loses_only_the_records_it_touches(data: st.DataObject, pack: str) -> None:
    source = random.Random(data.draw(st.integers(0, 10_000)))
    contents = [
        lambda: source.randbytes(source.randrange(3_000)),
        lambda: b"<p>word " * source.randrange(2_000),
        lambda: source.randbytes(90_000),
    ]
    kinds = data.draw(st.lists(st.sampled_from(["response", "response", "request"]), min_size=1, max_size=7))
    members = [
        PACKS[pack](record(number, HTML + source.choice(contents)(), kind=kind)) for number, kind in enumerate(kinds)
    ]
    whole = b"".join(members)
    at = data.draw(st.integers(0, len(whole) - 1))
    end = min(at + data.draw(st.sampled_from([1, 2, 8, 100, 4_096, 70_000])), len(whole))
    how = data.draw(st.sampled_from(["flip", "zero", "noise", "cut out", "insert", "cut off", "member"]))
    if how == "flip":
        end = at + 1
    elif how == "cut off":
        end = len(whole)
    instead = {
        "flip": bytes([whole[at] ^ 1 << source.randrange(8)]),
        "zero": bytes(end - at),
        "noise": source.randbytes(end - at),
        "insert": source.randbytes(end - at) + whole[at:end],
        "member": source.choice(members) + whole[at:end],
    }.get(how, b"")
    damaged = whole[:at] + instead + whole[end:]
    inserted = how in ("insert", "member")

    found = items(damaged)
    pages = {page.url: page for page in found if isinstance(page, Page)}
    original = {page.url: page for page in items(whole) if isinstance(page, Page)}
    touched = []
    for number, stop in enumerate(accumulate(map(len, members))):
        start = stop - len(members[number])
        if start < at < stop or (start <= at < stop and not inserted) or (at < start < end and not inserted):
            touched.append(number)
        elif f"http://e/{number}" in original:
            assert pages.get(f"http://e/{number}") == original[f"http://e/{number}"]
    damage = sum(item.skipped for item in found if isinstance(item, Damage))
    assert damage <= sum(len(members[number]) for number in touched) + max(len(damaged) - len(whole), 0)
    if pack != "plain" and len(touched) < len(
        members
    ):  # plain files have no checksums; and a copy of the only member would look whole
        assert all(page == original[url] for url, page in pages.items())
        missing = original.keys() - pages.keys()
        assert not missing or not damaged or any(isinstance(item, Failed | Damage) for item in found)


@settings(max_examples=200)
@given(
    st.binary(max_size=5_000),
    st.sampled_from([b"", b"\x1f\x8b\x08\x00", b"\x28\xb5\x2f\xfd", b"\x04\x22\x4d\x18", b"WARC/1.0\r\n"]),
)
def test_arbitrary_bytes_are_damage(content: bytes, start: bytes) -> None:
    content = start + content
    found = items(content)
    assert all(isinstance(item, Damage) for item in found)
    skipped = sum(item.skipped for item in found if isinstance(item, Damage))
    assert skipped <= len(content)
    assert found or not content.strip(b"\r\n")


# --- damage with a known effect ---------------------------------------------------------------------------------------


@packed
@pytest.mark.parametrize(
    "length",
    ["1000000000000000000", "9" * 30, "-5", "", "abc", "200"],
    ids=["huge", "huger", "negative", "none", "words", "long"],
)
def test_a_page_with_an_impossible_length_fails(pack: Pack, length: str) -> None:
    archive = pack(record(1)) + pack(record(2, length=length)) + pack(record(3))
    assert outcomes(archive) == [("1",), ("2", WRONG_LENGTH), ("3",)]


@packed
def test_a_length_that_is_too_small_leaves_damage(pack: Pack) -> None:
    archive = pack(record(1)) + pack(record(2, HTML + b"<p>Hello", length="47")) + pack(record(3))
    assert outcomes(archive) == [("1",), ("2",), (len(b"Hello\r\n\r\n"), NOT_A_RECORD), ("3",)]


@packed
@pytest.mark.parametrize(
    "hostile",
    [
        record(2).replace(b"Content-Type", b"X: " + b"x" * 1_000_000 + b"\r\nContent-Type"),
        b"WARC/1.0\r\n" + random.Random(1).randbytes(70_000),
        b"WARC/1.0\r\nContent-Length: 10",
        b"neither\r\n",
    ],
    ids=["a megabyte", "binary", "cut off", "other"],
)
def test_an_invalid_header_is_damage(pack: Pack, hostile: bytes) -> None:
    archive = pack(record(1)) + pack(hostile) + pack(record(3))
    assert outcomes(archive) == [("1",), (len(pack(hostile)), NOT_A_RECORD), ("3",)]


@packed
@pytest.mark.parametrize(
    "change",
    [
        lambda content: content.replace(b"\r\n", b"\n", 6),
        lambda content: content.replace(b"\r\n", b"\r\r\n", 6),
        lambda content: content.replace(b"WARC/1.0", b"WARC/1.2"),
        lambda content: content.replace(b"WARC-Type", b"warc-TYPE").replace(b"Content-L", b"CONTENT-L"),
        lambda content: content.replace(b"Content-Type", b"no colon\r\n\x00\xff: \xfe\r\nContent-Type", 1),
        lambda content: content.rstrip(),
        lambda content: content + b"\r\n" * 500,
    ],
    ids=["LF", "CR CR LF", "version", "case", "lines", "no empty line", "empty lines"],
)
def test_an_unusual_header_is_read(pack: Pack, change: Callable[[bytes], bytes]) -> None:
    archive = pack(record(1)) + pack(change(record(2))) + pack(record(3)) + pack(change(record(4))) + pack(record(5))
    assert outcomes(archive) == [("1",), ("2",), ("3",), ("4",), ("5",)]


@packed
def test_a_file_that_is_cut_off(pack: Pack) -> None:
    content = HTML + random.Random(2).randbytes(500).hex().encode()
    page = pack(record(2, content))
    cut = pack(record(1)) + page[:-100]
    rest = (len(page) - 100, CUT_OFF) if pack is zstd else ("2", CUT_OFF)  # zstd compresses it as one block
    assert outcomes(cut) == [("1",), rest]
    request = pack(record(2, content, kind="request"))
    cut = pack(record(1)) + request[:-100]
    assert outcomes(cut) == [("1",), (len(request) - 100, CUT_OFF)]


def test_a_member_without_its_checksum_is_read_and_reported_as_cut_off() -> None:
    archive = gzip.compress(record(1)) + gzip.compress(record(2))[:-3]
    assert outcomes(archive) == [("1",), ("2",), (0, CUT_OFF)]


def test_a_wrong_checksum_is_noticed() -> None:
    first, second, third = (bytearray(gzip.compress(record(number))) for number in (1, 2, 3))
    second[-6] ^= 1
    assert outcomes(bytes(first + second + third)) == [("1",), ("2", DAMAGED), ("3",)]
    request = bytearray(gzip.compress(record(2, kind="request")))
    request[-6] ^= 1
    assert outcomes(bytes(first + request + third)) == [("1",), (len(request), DAMAGED), ("3",)]


def test_a_damaged_record_of_another_type_is_skipped_and_counted() -> None:
    image = bytearray(gzip.compress(record(2, HTML.replace(b"text/html", b"image/png") + b"...")))
    image[-6] ^= 1
    first, found, damage, last = items(gzip.compress(record(1)) + bytes(image) + gzip.compress(record(3)))
    assert isinstance(first, Page)
    assert isinstance(last, Page)
    assert found == Skipped("http://e/2", "type image/png")
    assert damage == Damage(len(image), DAMAGED)


@packed
def test_holes_and_bytes_after_the_end_are_damage(pack: Pack) -> None:
    archive = pack(record(1)) + bytes(4_096) + pack(record(2)) + b"trailing garbage"
    assert outcomes(archive) == [("1",), (4_096, NOT_A_RECORD), ("2",), (16, NOT_A_RECORD)]
    assert outcomes(b"garbage\n" + pack(record(1))) == [(8, NOT_A_RECORD), ("1",)]


def test_members_without_records() -> None:
    first, third = gzip.compress(record(1)), gzip.compress(record(3))
    assert outcomes(first + gzip.compress(b"") + gzip.compress(b"\r\n") + third) == [("1",), ("3",)]
    other = gzip.compress(b"another file")
    assert outcomes(first + other + third) == [("1",), (len(other), NOT_A_RECORD), ("3",)]


def test_all_records_in_one_member_that_is_cut_off() -> None:
    """FastWARC mistakes this for the end of the file, and zlib returns nothing at all."""
    contents = [random.Random(number).randbytes(3_000).hex().encode() for number in range(6)]
    archive = gzip.compress(b"".join(record(number, HTML + content) for number, content in enumerate(contents)))
    found = outcomes(archive[: len(archive) // 2])
    assert found == [("0",), ("1",), ("2", CUT_OFF)] or found == [("0",), ("1",), ("2",), ("3", CUT_OFF)]


def test_many_kinds_of_damage_in_one_file() -> None:
    first = gzip.compress(record(1))
    pieces = [first, b"\x00" * 9, first, gzip.compress(record(2, length="5000")), first, first[:-30], first, first[5:]]
    found = outcomes(b"".join(pieces))
    assert [item for item in found if len(item) == 1] == [("1",)] * 4
    assert sum(isinstance(size, int) and size for size, *_ in found) <= 9 + 30 + len(first)
    assert ("2", WRONG_LENGTH) in found


HOSTILE = {
    "starts": b"WARC/1.0\r\nA" * 90_000,
    "starts in one member": gzip.compress(b"WARC/1.0\r\nA" * 90_000),
    "members": b"\x1f\x8b\x08\x00" * 250_000,
    "frames": b"\x28\xb5\x2f\xfd" * 250_000,
    "other frames": b"\x04\x22\x4d\x18" * 250_000,
    "lengths": record(1, length="999999999") * 5_000,
    "lengths in members": gzip.compress(record(1, length="999999999")) * 5_000,
    "a bomb": gzip.compress(bytes(100_000_000)),
}


@pytest.mark.check
@pytest.mark.parametrize("archive", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_read_in_time(archive: bytes) -> None:
    """A megabyte takes about a second. It would take minutes if every false start were followed to its end."""
    start = time.monotonic()
    assert items(archive)
    assert time.monotonic() - start < 20
