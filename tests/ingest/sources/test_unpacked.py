from __future__ import annotations

import gzip
import os
import struct
from pathlib import Path

import pytest
import zstandard

from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked
from tests.ingest.sources.archives import Pack


def test_a_file_compressed_in_several_pieces_is_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "a"
    big = os.urandom(200_000) + bytes(1_000_000)
    skippable = struct.pack("<II", 0x184D2A50, 5) + b"index"
    for content in (
        gzip.compress(b"one ") + gzip.compress(b"") + gzip.compress(big) + bytes(100_000),
        skippable + zstandard.compress(b"one ") + skippable + zstandard.compress(big),
    ):
        path.write_bytes(content)
        with unpacked(str(path)) as file:
            assert file.read() == b"one " + big


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_damage_within_compressed_data_is_reported(tmp_path: Path, pack: Pack) -> None:
    whole = pack(os.urandom(100_000))
    for length in (10, 50_000, len(whole) - 1):
        (tmp_path / "cut").write_bytes(whole[:length])
        with unpacked(str(tmp_path / "cut")) as file, pytest.raises(DamagedError, match="cut off") as cut:
            file.read()
        assert cut.value.left == 0
    garbage = b"garbage, and more of it"
    (tmp_path / "more").write_bytes(whole + garbage)
    with unpacked(str(tmp_path / "more")) as file:
        assert len(file.read(100_000)) == 100_000
        with pytest.raises(DamagedError, match="damaged") as damaged:
            file.read()
        assert damaged.value.left == len(garbage)
