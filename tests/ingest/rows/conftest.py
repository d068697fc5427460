from __future__ import annotations

from pathlib import Path

import pytest

from tests.ingest.rows.copied_rows import LINE


@pytest.fixture
def lines(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_bytes(b"".join(LINE % number for number in range(3)))
    return tmp_path / "a.jsonl"
