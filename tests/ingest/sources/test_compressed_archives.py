"""A WARC file is recognized by its content, whatever its compression and its name."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest
import zstandard
from fastwarc.stream_io import Lz4Writer

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import Sources, read

Pack = Callable[[bytes], bytes]


def lz4(content: bytes) -> bytes:
    out = io.BytesIO()
    with Lz4Writer(out) as writer:
        writer.write(content)
    return out.getvalue()


def noise(number: int) -> bytes:
    """Return a page of random characters, which stays larger than the inspected start of a file in any compression."""
    return b"<p>" + Random(number).randbytes(60_000).hex().encode()


PACKS: dict[str, Pack] = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.compress, "lz4": lz4}


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("whole", [False, True], ids=["records", "file"])
@pytest.mark.parametrize("named", [False, True], ids=["in a folder", "named"])
def test_a_compressed_warc_file_is_recognized_and_read(
    warc: Callable[..., Path], tmp_path: Path, pack: Pack, whole: bool, named: bool
) -> None:
    pages = [(f"http://example.org/{number}", noise(number)) for number in range(4)]
    written = warc("written", pages, compress=bytes if whole else pack)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "crawl").write_bytes(pack(written.read_bytes()) if whole else written.read_bytes())
    with Sources([str(folder / "crawl" if named else folder)]) as sources:
        found = [item for split in sources.splits(50_000) for _, item in read(split, 1_000_000)]
    assert [item.url for item in found if isinstance(item, Page)] == [url for url, _ in pages]
