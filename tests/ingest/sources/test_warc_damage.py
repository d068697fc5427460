"""Damaged WARC files: whole records are read, damaged ones fail or are counted, and no loss is silent."""

from __future__ import annotations

import gzip
import random
import time
from collections.abc import Callable
from itertools import accumulate

import pytest
from hypothesis import given, settings, strategies as st

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import warc
from opensearch_winnow.ingest.sources.archive_records import NOT_A_RECORD, WRONG_LENGTH
from opensearch_winnow.ingest.sources.members import CUT_OFF, DAMAGED
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item
from tests.ingest.sources.archives import HTML, Pack, items_of, record, zstd

PACKS: dict[str, Pack] = {"plain": bytes, "gzip": gzip.compress, "zstd": zstd}
packed = pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)


def items(archive: bytes) -> list[Item]:
    return items_of(warc, archive, 1 << 20)


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


@pytest.mark.check
@settings(max_examples=300)
@given(data=st.data(), pack=st.sampled_from(["plain", "gzip", "zstd"]))
def test_damage_loses_only_the_records_it_touches(data: st.DataObject, pack: str) -> None:
    source = random.Random(data.draw(st.integers(0, 10_000)))
    contents = (
        lambda: source.randbytes(source.randrange(3_000)),
        lambda: b"<p>word " * source.randrange(2_000),
        lambda: source.randbytes(90_000),
    )
    kinds = data.draw(st.lists(st.sampled_from(["response", "response", "request"]), min_size=1, max_size=7))
    members = [PACKS[pack](record(n, HTML + source.choice(contents)(), kind=kind)) for n, kind in enumerate(kinds)]
    whole = b"".join(members)
    at = data.draw(st.integers(0, len(whole) - 1))
    end = min(at + data.draw(st.sampled_from([1, 2, 8, 100, 4_096, 70_000])), len(whole))
    how = data.draw(st.sampled_from(["flip", "zero", "noise", "cut out", "insert", "cut off", "member"]))
    end = {"flip": at + 1, "cut off": len(whole)}.get(how, end)
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
    pages, original = ({page.url: page for page in each if isinstance(page, Page)} for each in (found, items(whole)))
    touched = []
    for number, stop in enumerate(accumulate(map(len, members))):
        start = stop - len(members[number])
        if start < at < stop or (start <= at < stop and not inserted) or (at < start < end and not inserted):
            touched.append(number)
        elif f"http://e/{number}" in original:
            assert pages.get(f"http://e/{number}") == original[f"http://e/{number}"]
    damage = sum(item.skipped for item in found if isinstance(item, Damage))
    assert damage <= sum(len(members[number]) for number in touched) + max(len(damaged) - len(whole), 0)
    # Plain files have no checksums; and a copy of the only member would look whole.
    if pack != "plain" and len(touched) < len(members):
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


@packed
@pytest.mark.parametrize(
    ("length", "said"),
    [
        *((length, [("2", WRONG_LENGTH)]) for length in ("1000000000000000000", "9" * 30, "-5", "", "abc", "200")),
        ("47", [("2",), (len(b"Hello\r\n\r\n"), NOT_A_RECORD)]),
    ],
)
def test_a_wrong_length_costs_its_page(pack: Pack, length: str, said: list[object]) -> None:
    archive = pack(record(1)) + pack(record(2, Content_Length=length)) + pack(record(3))
    assert outcomes(archive) == [("1",), *said, ("3",)]


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
        lambda content: content.replace(b"\r\n", b"\n", 7),
        lambda content: content.replace(b"\r\n", b"\r\r\n", 7),
        lambda content: content.replace(b"WARC/1.0", b"WARC/1.2"),
        lambda content: content.replace(b"WARC-Type", b"warc-TYPE").replace(b"Content-L", b"CONTENT-L"),
        lambda content: content.replace(b"Content-Type", b"no colon\r\n\x00\xff: \xfe\r\nContent-Type", 1),
        lambda content: content.rstrip(),
        lambda content: content + b"\r\n" * 500,
    ],
    ids=["LF", "CR CR LF", "version", "case", "lines", "no empty line", "empty lines"],
)
def test_an_unusual_header_is_read(pack: Pack, change: Callable[[bytes], bytes]) -> None:
    archive = b"".join(pack(record(n) if n % 2 else change(record(n))) for n in range(1, 6))
    assert outcomes(archive) == [("1",), ("2",), ("3",), ("4",), ("5",)]


@packed
def test_a_file_that_is_cut_off(pack: Pack) -> None:
    content = HTML + random.Random(2).randbytes(500).hex().encode()
    page, request = pack(record(2, content)), pack(record(2, content, kind="request"))
    rest = (len(page) - 100, CUT_OFF) if pack is zstd else ("2", CUT_OFF)  # zstd compresses it as one block
    assert outcomes(pack(record(1)) + page[:-100]) == [("1",), rest]
    assert outcomes(pack(record(1)) + request[:-100]) == [("1",), (len(request) - 100, CUT_OFF)]


@packed
def test_holes_and_bytes_after_the_end_are_damage(pack: Pack) -> None:
    archive = pack(record(1)) + bytes(4_096) + pack(record(2)) + b"trailing garbage"
    assert outcomes(archive) == [("1",), (4_096, NOT_A_RECORD), ("2",), (16, NOT_A_RECORD)]
    assert outcomes(b"garbage\n" + pack(record(1))) == [(8, NOT_A_RECORD), ("1",)]


FIRST, THIRD = gzip.compress(record(1)), gzip.compress(record(3))


def test_a_member_without_its_checksum_is_read_and_reported_as_cut_off() -> None:
    assert outcomes(FIRST + THIRD[:-3]) == [("1",), ("3",), (0, CUT_OFF)]


@pytest.mark.parametrize(
    ("second", "found"),
    [
        (record(2), [("2", DAMAGED)]),
        (record(2, kind="request"), [(None, DAMAGED)]),
        (record(2, HTML.replace(b"text/html", b"image/png")), [("2",), (None, DAMAGED)]),
    ],
)
def test_a_wrong_checksum_is_noticed(second: bytes, found: list[tuple[object, ...]]) -> None:
    member = bytearray(gzip.compress(second))
    member[-6] ^= 1
    lost = [(len(member) if each[0] is None else each[0], *each[1:]) for each in found]
    assert outcomes(FIRST + member + THIRD) == [("1",), *lost, ("3",)]


def test_members_without_records() -> None:
    assert outcomes(FIRST + gzip.compress(b"") + gzip.compress(b"\r\n") + THIRD) == [("1",), ("3",)]
    other = gzip.compress(b"another file")
    assert outcomes(FIRST + other + THIRD) == [("1",), (len(other), NOT_A_RECORD), ("3",)]


def test_all_records_in_one_member_that_is_cut_off() -> None:
    """FastWARC mistakes this for the end of the file, and zlib returns nothing at all."""
    contents = [random.Random(number).randbytes(3_000).hex().encode() for number in range(6)]
    archive = gzip.compress(b"".join(record(number, HTML + content) for number, content in enumerate(contents)))
    found = outcomes(archive[: len(archive) // 2])
    assert found == [("0",), ("1",), ("2", CUT_OFF)] or found == [("0",), ("1",), ("2",), ("3", CUT_OFF)]


def test_many_kinds_of_damage_in_one_file() -> None:
    wrong = gzip.compress(record(2, Content_Length="5000"))
    found = outcomes(b"".join([FIRST, b"\x00" * 9, FIRST, wrong, FIRST, FIRST[:-30], FIRST, FIRST[5:]]))
    assert [item for item in found if len(item) == 1] == [("1",)] * 4
    assert sum(isinstance(size, int) and size for size, *_ in found) <= 9 + 30 + len(FIRST)
    assert ("2", WRONG_LENGTH) in found


HOSTILE = {
    "starts": b"WARC/1.0\r\nA" * 90_000,
    "starts in one member": gzip.compress(b"WARC/1.0\r\nA" * 90_000),
    "members": b"\x1f\x8b\x08\x00" * 250_000,
    "frames": b"\x28\xb5\x2f\xfd" * 250_000,
    "other frames": b"\x04\x22\x4d\x18" * 250_000,
    "lengths": record(1, Content_Length="999999999") * 5_000,
    "lengths in members": gzip.compress(record(1, Content_Length="999999999")) * 5_000,
    "a bomb": gzip.compress(bytes(100_000_000)),
}


@pytest.mark.check
@pytest.mark.parametrize("archive", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_read_in_time(archive: bytes) -> None:
    """A megabyte takes about a second. It would take minutes if every false start were followed to its end."""
    start = time.process_time()
    assert items(archive)
    assert time.process_time() - start < 20
