"""Pages of meaningless words, and what winnow index made of them."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from subprocess import CompletedProcess

from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.embedded import EmbeddedStore

URL = "http://example.org/"


def prose(seed: int, words: int = 80) -> str:
    source = Random(seed)
    return " ".join("".join(source.choices("abcdefghij", k=source.randint(2, 9))) for _ in range(words))


def counted(done: CompletedProcess[bytes]) -> tuple[int, ...]:
    """Return the numbers of pages that were indexed, unchanged, skipped and failed."""
    assert done.returncode in (0, 1), done.stderr
    answer = json.loads(done.stdout)
    numbers = tuple(answer[name] for name in ("indexed", "unchanged", "skipped", "failed"))
    assert answer["pages"] == sum(numbers)
    return numbers


def stored(path: Path) -> list[Record]:
    with EmbeddedStore.open(path) as store:
        return list(store.scan(Record))


def pages_in(store: Path) -> int:
    if not store.exists():
        return 0
    with EmbeddedStore.open(store) as opened:
        return opened.count()
