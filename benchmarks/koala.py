"""What 100 fingerprints a page find, as in Koala, beside all shared passages, and how many bytes they take."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.table import Run, Table
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from tests.quality.corpora import public_pages

QUESTIONS = 150
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5, 0.9, 1.001)
SCHEMES = {
    "consonants": Scheme.preset("consonants"),
    "mod-p": Scheme(form="consonants", noise=20, guarantee=75, selection="mod-p"),  # keeps about as many as koala
    "koala": Scheme.preset("koala"),
}
Shares = dict[tuple[str, str], float]  # of a question and a page: how much of the question is in the page


def tables(run: Run) -> Iterator[Table]:
    pages = list(islice(public_pages(one_in=4), run.size(3_000, least=30)))
    urls = [page.url for page in pages[:: max(len(pages) // QUESTIONS, 1)]]
    found: dict[str, Shares] = {}
    sizes: list[tuple[str, ...]] = []
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        for name, scheme in SCHEMES.items():
            path = Path(folder, f"{name}.winnow")
            with Index.open(path, scheme=scheme) as index:
                index.add(pages)
                found[name] = {
                    (url, match.url): match.containment
                    for url in urls
                    for match in index.similar(url=url, min_containment=0, limit=None)
                }
                counts = index.statistics().frequencies["fingerprints"]
            prints = sum(on * tokens for on, tokens in counts.items()) / len(pages)
            sizes.append((f"`{name}`", f"{prints:.0f}", *(f"{each / len(pages):,.0f}" for each in stored_bytes(path))))
    yield Table(
        "What is found of all pages that share a passage",
        ("share of the question in the page", "pages", "found with `mod-p`", "found with `koala`"),
        list(found_by_share(found)),
        f"{len(pages):,} public pages, of which {len(urls)} are questions for any passage. All that share a run of 40"
        " consonants are known from the preset `consonants`. `mod-p` keeps about as many fingerprints as `koala`, as a"
        " share of the k-grams.",
    )
    yield Table(
        "Fingerprints and bytes",
        ("scheme", "fingerprints a page", "bytes of a page's own", "bytes of the index", "bytes of the file"),
        sizes,
        "Bytes a page in a file: its fingerprints with their positions, the index by fingerprints, and the whole file.",
    )


def found_by_share(found: dict[str, Shares]) -> Iterator[tuple[str, ...]]:
    for low, high in reversed(list(pairwise(SHARES))):
        pairs = [pair for pair, share in found["consonants"].items() if low <= share < high]
        between = f"{low:.0%} or more" if high > 1 else f"{low:.0%} to {high:.0%}"
        parts = [sum(pair in found[name] for pair in pairs) / max(len(pairs), 1) for name in ("mod-p", "koala")]
        yield between.replace("%", " %"), f"{len(pairs):,}", *(f"{part:.3f}" for part in parts)


def stored_bytes(path: Path) -> tuple[int, int, int]:
    """Return the bytes of the fingerprints of pages, of the index by fingerprints, and of the file."""
    with closing(sqlite3.connect(path)) as there:
        sizes = dict(there.execute("SELECT name, sum(pgsize) FROM dbstat GROUP BY name"))
    return sizes["page_fingerprints"], sizes["fingerprints"], path.stat().st_size
