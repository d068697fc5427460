"""Files of JSON lines, and the words of their texts."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

from opensearch_winnow.cython_core.canonical_text import canonical_text


def write_lines(path: Path, rows: Iterable[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows), encoding="utf-8")
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    content = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [json.loads(line) for line in content.decode().splitlines()]


def words_of(text: str) -> list[str]:
    canonical = canonical_text(text)
    return [canonical.chars[start:end] for start, end in pairwise([*canonical.words, len(canonical.chars)])]
