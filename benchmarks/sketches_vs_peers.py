"""From text to MinHash, compared with rensa and datasketch, whose users make shingles in Python."""

from __future__ import annotations

import importlib.metadata
from functools import cache, partial
from importlib import import_module
from typing import TYPE_CHECKING
from zlib import crc32

from benchmarks.corpus import pages, source
from benchmarks.peers.missing import available
from benchmarks.table import Run, Table, times
from benchmarks.timing import alternate
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.shingles import shingles

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Sketch = Callable[[str], object]

WIDTH = 10
PERMUTATIONS = 128  # the default of datasketch: 512 bytes, as our 1024 bins of 4 bits
CHARACTERS = 4_000_000  # half a second for the slowest


def ours(text: str) -> bytes:
    return pack(minhash(shingles(canonical_text(text), WIDTH)))  # packed to 512 bytes instead of 8 kB


def peer_shingles(text: str) -> list[str]:
    words = text.lower().split()
    return [" ".join(words[i : i + WIDTH]) for i in range(len(words) - WIDTH + 1)]


def rensa() -> Sketch:
    from rensa import RMinHash  # noqa: PLC0415

    def sketch(text: str) -> RMinHash:
        made = RMinHash(num_perm=PERMUTATIONS, seed=1)
        made.update(peer_shingles(text))
        return made

    return sketch


def datasketch() -> Sketch:
    from datasketch import MinHash  # noqa: PLC0415

    def sketch(text: str) -> MinHash:
        made = MinHash(num_perm=PERMUTATIONS, hashfunc=fast_hash())
        made.update_batch([shingle.encode() for shingle in peer_shingles(text)])
        return made

    return sketch


@cache
def fast_hash() -> Callable[[bytes], int]:
    """Return the fastest hash for datasketch, three times as fast as its default."""
    try:
        quickest: Callable[[bytes], int] = import_module("xxhash").xxh32_intdigest
    except ImportError:
        quickest = crc32
    return quickest


def with_version(name: str) -> str:
    package, _, how = name.partition(",")
    return f"{package} {importlib.metadata.version(package)},{how}"


def of_all(path: Sketch, texts: list[str]) -> list[object]:
    return [path(text) for text in texts]


def tables(run: Run) -> Iterator[Table]:
    texts = pages(run.size(CHARACTERS, least=50_000))
    size = sum(len(text.encode()) for text in texts)
    peers, missing = available({"rensa, RMinHash": rensa, "datasketch, update_batch": datasketch})
    paths = {"opensearch-winnow": ours} | {with_version(name): path for name, path in peers.items()}
    # Rounds are short, so it takes more of them until one is undisturbed.
    seconds = alternate({name: partial(of_all, path, texts) for name, path in paths.items()}, rounds=12)
    yield Table(
        "Text → shingles → MinHash",
        ("", "µs a page", "MB/s", "ours is faster by"),
        [
            (
                name,
                f"{taken / len(texts) * 1e6:.0f}",
                f"{size / taken / 1e6:.0f}",
                times(taken / seconds["opensearch-winnow"]),
            )
            for name, taken in seconds.items()
        ],
        f"Aim: 10 ×. {len(texts)} pages of {size / len(texts) / 1e3:.1f} kB, {WIDTH}-word shingles, 512 bytes a page; "
        f"the peers' shingles are made in Python, as their users do. {source()}",
        missing,
    )
