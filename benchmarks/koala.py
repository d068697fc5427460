"""What 100 fingerprints a page find, as in Koala, beside other selections of as many bytes; and after a rotation."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from itertools import islice, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.table import Run, Table, percent
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.filters import Selection
from tests.evading import without_fingerprints
from tests.quality.corpora import public_pages

QUESTIONS = 150
EQUAL_BYTES = 150  # the guarantee with which winnow and mod-p take about as many bytes as koala
SHARES = (0.01, 0.05, 0.1, 0.2, 0.5, 0.9, 1.001)
KOALA = Scheme.preset("koala")
SCHEMES = {
    "consonants": Scheme.preset("consonants"),
    "winnow": Scheme(form="consonants", noise=20, guarantee=EQUAL_BYTES),
    "mod-p": Scheme(form="consonants", noise=20, guarantee=EQUAL_BYTES, selection="mod-p"),
    "koala": KOALA,
}
LENGTHS = (0, 500, 1_000, 2_000, 5_000, 10**9)  # canonical characters of pages whose fingerprints are edited away
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
            own, by_hash, whole = (each / len(pages) for each in stored_bytes(path))
            sizes.append((f"`{name}`", *(f"{each:,.0f}" for each in (prints, own, by_hash, own + by_hash, whole))))
        with Index.open(Path(folder, "koala.winnow")) as index:
            rotation = rotation_table(index, urls)
    yield Table(
        "What is found of all pages that share a passage",
        ("share of the question in the page", "pages", *(f"found with `{name}`" for name in list(SCHEMES)[1:])),
        list(found_by_share(found)),
        f"{len(pages):,} public pages, of which {len(urls)} are questions for any passage. All that share a run of 40"
        " consonants are known from the preset `consonants`. The others take about as many bytes a page as `koala`.",
    )
    yield Table(
        "Fingerprints and bytes",
        ("scheme", "fingerprints", "bytes with the page", "bytes of the index", "both", "bytes of the file"),
        sizes,
        "Of a page in a file, on average: its fingerprints with their positions, the index by fingerprints, and the"
        " whole file, which also has the texts, their words, and sketches.",
    )
    yield rotation


def found_by_share(found: dict[str, Shares]) -> Iterator[tuple[str, ...]]:
    for low, high in reversed(list(pairwise(SHARES))):
        pairs = [pair for pair, share in found["consonants"].items() if low <= share < high]
        between = f"{percent(low)} or more" if high > 1 else f"{percent(low)} to {percent(high)}"
        parts = [sum(pair in found[name] for pair in pairs) / max(len(pairs), 1) for name in list(found)[1:]]
        yield between, f"{len(pairs):,}", *(f"{part:.3f}" for part in parts)


def stored_bytes(path: Path) -> tuple[int, int, int]:
    """Return the bytes of the fingerprints and positions of pages, of the index by fingerprints, and of the file."""
    with closing(sqlite3.connect(path)) as there:
        query = "SELECT sum(length(fingerprints) + length(positions)) FROM page_fingerprints"
        (own,) = there.execute(query).fetchone()
        (by_hash,) = there.execute("SELECT sum(pgsize) FROM dbstat WHERE name = 'fingerprints'").fetchone()
    return own, by_hash, path.stat().st_size


class Evader(NamedTuple):
    """Somebody who has copied a page, and has edited away its stored fingerprints."""

    url: str
    length: int  # canonical characters of the page
    edits: int  # letters that were changed
    text: str
    shares: bool  # whether it still has a k-gram of the page

    def is_found(self, index: Index) -> bool:
        return any(match.url == self.url for match in index.similar(text=self.text, min_containment=0, limit=None))


def rotation_table(index: Index, urls: list[str]) -> Table:
    edited = [evader(record) for url in urls for record in index.store.scan(Record, Selection(url=url))]
    evaders = [each for each in edited if each.shares]
    before = {each.url for each in evaders if each.is_found(index)}
    index.rotate()
    after = {each.url for each in evaders if each.is_found(index)}
    rows = []
    for low, high in [*pairwise(LENGTHS), (0, LENGTHS[-1])]:
        some = [each for each in evaders if low <= each.length < high]
        shares = [f"{sum(each.url in found for each in some) / max(len(some), 1):.3f}" for found in (before, after)]
        edits = sum(each.edits for each in some) / max(len(some), 1)
        length = f"{low:,} to {high:,}" if high < LENGTHS[-1] else f"{low:,} or more" if low else "all"
        rows.append((length, f"{len(some):,}", f"{edits:.0f}", *shares))
    return Table(
        "Who has edited away all stored fingerprints is found again after a rotation",
        ("canonical characters of the page", "pages", "letters changed", "found before", "found after"),
        rows,
        f"As few letters as possible were changed in copies of {len(edited)} pages, so that no k-gram is left of those"
        " stored. Then the copies were questions for any passage, before and after `Index.rotate`."
        f" {len(edited) - len(evaders)} copies of short pages are left out: they share no k-gram with their page now.",
    )


def evader(record: Record) -> Evader:
    text, edits = without_fingerprints(record.text, set(record.hashes.fingerprints), KOALA)
    page, copy = (canonical(each, KOALA).chars for each in (record.text, text))
    shares = not set(kgram_hashes(page, KOALA.k)).isdisjoint(kgram_hashes(copy, KOALA.k))
    return Evader(record.url, len(page), edits, text, shares)
