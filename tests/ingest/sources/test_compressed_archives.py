"""A WARC file is recognized by its content, whatever its compression and its name."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import pytest
import zstandard

from tests.ingest.sources.archives import HTML, Pack, items, lz4, record, urls

PACKS: dict[str, Pack] = {"plain": bytes, "gzip": gzip.compress, "zstd": zstandard.compress, "lz4": lz4}
# Pages of random characters, which stay larger than the inspected start of a file in any compression.
RECORDS = [record(n, HTML + b"<p>" + Random(n).randbytes(60_000).hex().encode()) for n in range(4)]


@pytest.mark.parametrize("pack", PACKS.values(), ids=PACKS)
@pytest.mark.parametrize("whole", [False, True], ids=["records", "file"])
@pytest.mark.parametrize("named", [False, True], ids=["in a folder", "named"])
def test_a_compressed_warc_file_is_recognized_and_read(tmp_path: Path, pack: Pack, whole: bool, named: bool) -> None:
    (tmp_path / "crawl").write_bytes(pack(b"".join(RECORDS)) if whole else b"".join(map(pack, RECORDS)))
    found = items(tmp_path / "crawl" if named else tmp_path, size=50_000)
    assert urls(found) == [f"http://e/{n}" for n in range(4)]
