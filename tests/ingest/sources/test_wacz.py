from __future__ import annotations

import gzip
import random
import zipfile
from pathlib import Path

import pytest

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import wacz, warc
from opensearch_winnow.ingest.sources.split import Damage, Item
from tests.ingest.sources import archives
from tests.ingest.sources.archives import HTML, urls
from tests.ingest.sources.test_zip_file import encrypted, link, packed

ARC = (
    b"filedesc://x 0.0.0.0 20030201000000 text/plain 0\n\nhttp://e/arc 1.2.3.4 20030201040506 text/html 48\n"
    + HTML
    + b"<p>x\n"
)


def record(number: int, body: bytes = b"<p>Hello") -> bytes:
    return archives.record(number, HTML + body)


def items(path: Path) -> list[Item]:
    found: list[Item] = []
    for split in wacz.splits(str(path), 1):
        reader = wacz if split.format == "wacz" else warc
        *part, (_, last) = reader.read(split, 1 << 20)
        assert last is None
        found += [item for _, item in part if item is not None]
    return found


SECOND = gzip.compress(record(2), mtime=0)
STORED = gzip.compress(record(1), mtime=0) + SECOND


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "x.wacz"
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.mkdir("archive")
        zipped.writestr("datapackage.json", "{}", zipfile.ZIP_DEFLATED)
        zipped.writestr("archive/a.warc.gz", STORED)
        zipped.writestr("archive/b", record(3) + record(4), zipfile.ZIP_DEFLATED)
        zipped.writestr("pages/pages.jsonl", '{"url": "http://e/1"}\n', zipfile.ZIP_DEFLATED)
        zipped.writestr("archive/c.arc", ARC, zipfile.ZIP_LZMA)
    return path


def test_each_archive_in_it_is_a_split(path: Path) -> None:
    assert wacz.looks_like(path.read_bytes()[:100])
    names = [split.names for split in wacz.splits(str(path), 1)]
    assert names == [("archive/a.warc.gz",), ("archive/b",), ("archive/c.arc",)]
    assert urls(items(path)) == ["http://e/1", "http://e/2", "http://e/3", "http://e/4", "http://e/arc"]


def test_a_zip_file_without_archives_has_no_splits(path: Path) -> None:
    path.write_bytes(packed({"warc.txt": b"WARC/1.0 is a format", "empty": b""}))
    assert list(wacz.splits(str(path), 1)) == []


def test_a_bomb_does_not_fill_the_disk(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wacz, "MAX_UNPACKED_BYTES", 1 << 20)
    path.write_bytes(packed({"a.warc": record(1) + bytes(50 << 20)}))
    assert path.stat().st_size < 100_000
    page, *damage = items(path)
    assert isinstance(page, Page)
    lost = [each.skipped for each in damage if isinstance(each, Damage)]
    assert len(lost) == len(damage) > 0
    assert sum(lost) > 49 << 20


@pytest.mark.parametrize(
    ("at", "value"), [(b"\xc3\xa4.warc", b"\xff\xff.warc"), (b"PK\x01\x02\x14\x03\x14", b"PK\x01\x02\x14\x03\xff")]
)
def test_a_zip_file_with_a_damaged_list_of_members(path: Path, at: bytes, value: bytes) -> None:
    """One has a name that is not UTF-8, the other needs a version that does not exist."""
    head, found, tail = packed({"ä.warc": record(1) + record(2)}, zipfile.ZIP_STORED).rpartition(at)
    assert found
    path.write_bytes(head + value + tail)
    assert urls(items(path)) == ["http://e/1", "http://e/2"]


def test_a_link_in_a_zip_file_is_no_archive(path: Path) -> None:
    path.write_bytes(packed({link("a.warc.gz"): b"../../../etc/passwd", "../../b.warc.gz": SECOND}))
    assert urls(items(path)) == ["http://e/2"]
    assert not (path.parent.parent.parent / "b.warc.gz").exists()


def test_a_zip_file_that_is_cut_off_gives_its_complete_records(path: Path) -> None:
    whole = path.read_bytes()
    path.write_bytes(whole[: whole.index(b"archive/b") - 30])
    found = items(path)
    assert urls(found) == ["http://e/1", "http://e/2"]
    assert sum(item.skipped for item in found if isinstance(item, Damage)) == path.stat().st_size - len(STORED)


def test_damage_in_a_stored_archive_loses_only_the_records_it_touches(path: Path) -> None:
    whole = bytearray(path.read_bytes())
    whole[whole.index(SECOND) + 60] ^= 255
    path.write_bytes(whole)
    found = items(path)
    assert urls(found) == ["http://e/1", "http://e/3", "http://e/4", "http://e/arc"]
    assert len(found) == 5 or any(isinstance(item, Damage) for item in found)


@pytest.mark.check
def test_damage_in_a_compressed_archive_is_reported(path: Path) -> None:
    bodies = [random.Random(number).randbytes(2_000_000).hex().encode() for number in range(3)]
    whole = bytearray(packed({"x.warc": b"".join(record(number, body) for number, body in enumerate(bodies))}))
    whole[len(whole) // 2] ^= 255
    path.write_bytes(whole)
    *part, _ = wacz.read(next(wacz.splits(str(path), 1)), 10 << 20)
    assert isinstance(part[0][1], Page)
    assert isinstance(part[-1][1], Damage)


def test_an_encrypted_archive_is_damage(path: Path) -> None:
    path.write_bytes(encrypted(path.read_bytes(), members=None))
    found = items(path)
    assert urls(found) == []
    assert sum(isinstance(item, Damage) for item in found) >= 2
