"""From the bytes of a page to its record, compared with lxml and with well-known parts combined."""

from __future__ import annotations

import warnings
from functools import partial
from typing import TYPE_CHECKING

from lxml import etree

from benchmarks.crawled_pages import crawled_pages, source
from benchmarks.peers.missing import available
from benchmarks.table import Run, Table, times
from benchmarks.timing import alternate
from opensearch_winnow.ingest.encoding import encoding_of, to_utf8
from opensearch_winnow.ingest.extractors import extractor
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Sketch = Callable[[bytes], object]

WORDS = 10  # in a shingle
PERMUTATIONS = 128  # the default of datasketch
PLAIN = "lxml: its tree, and the text that it writes"


def tables(run: Run) -> Iterator[Table]:
    yield beside_lxml(crawled_pages(run.size(80_000_000)), rounds=run.size(5))
    yield beside_assembled(crawled_pages(run.size(20_000_000)))


def beside_lxml(pages: list[bytes], rounds: int) -> Table:
    extract = extractor("lxml")
    encodings = [encoding_of(page) for page in pages]
    decoded = [to_utf8(page, encoding) for page, encoding in zip(pages, encodings, strict=True)]
    candidates: dict[str, Callable[[], object]] = {
        PLAIN: lambda: [lxml_text(page) for page in decoded],
        "bytes → UTF-8": lambda: [to_utf8(page, encoding_of(page)) for page in pages],
        "bytes → text": lambda: [extract(to_utf8(page, encoding_of(page))) for page in pages],
        "bytes → record": lambda: records(pages),
    }
    seconds = alternate(candidates, rounds)
    size = sum(map(len, pages)) / 1e6
    rows = [(name, f"{size / each:,.0f} MB/s", f"{each / seconds[PLAIN]:.2f} ×") for name, each in seconds.items()]
    note = f"{source()} lxml gets UTF-8; its text has blocks glued together, and contains scripts."
    return Table(f"HTML to record: {len(pages):,} pages, {size:,.0f} MB", ("", "speed", "time"), rows, note)


def lxml_text(page: bytes) -> str:
    tree = etree.fromstring(page, etree.HTMLParser(encoding="utf-8", huge_tree=True))
    return "" if tree is None else str(etree.tostring(tree, method="text", encoding="unicode"))


def records(pages: Iterable[bytes]) -> None:
    maker = RecordMaker(Recipe())  # a new one each time, so that no page counts as seen
    for number, page in enumerate(pages):
        maker.make(Page(f"http://example.org/{number}", html=page))


def beside_assembled(pages: list[bytes]) -> Table:
    """Compare with what a user would assemble from well-known parts: text, word shingles, MinHash."""
    peers, missing = available(
        {"trafilatura + datasketch": with_trafilatura, "BeautifulSoup (lxml) + datasketch": with_beautifulsoup}
    )

    def sketches(sketch: Sketch) -> None:
        for page in pages:
            sketch(page)

    candidates: dict[str, Callable[[], object]] = {"winnow": lambda: records(pages)}
    candidates |= {name: partial(sketches, sketch) for name, sketch in peers.items()}
    seconds = alternate(candidates, 2)
    rows = [
        (name, f"{len(pages) / each:,.0f} pages/s", times(each / seconds["winnow"])) for name, each in seconds.items()
    ]
    note = "The peers stop at a MinHash. Ours makes fingerprints with positions, two sketches, bands and three digests."
    return Table(f"Beside what one would assemble: {len(pages):,} pages", ("", "speed", "time"), rows, note, missing)


def with_trafilatura() -> Sketch:
    from trafilatura import extract  # noqa: PLC0415

    sketch = datasketch()
    return lambda page: sketch(extract(page) or "")


def with_beautifulsoup() -> Sketch:
    from bs4 import BeautifulSoup, XMLParsedAsHTMLWarning  # noqa: PLC0415

    warnings.simplefilter("ignore", XMLParsedAsHTMLWarning)
    sketch = datasketch()
    return lambda page: sketch(BeautifulSoup(page, "lxml").get_text(" "))


def datasketch() -> Callable[[str], object]:
    from datasketch import MinHash  # noqa: PLC0415

    def sketch(text: str) -> object:
        words = text.lower().split()
        shingles = {" ".join(words[i : i + WORDS]).encode() for i in range(max(len(words) - WORDS + 1, 1))}
        signature = MinHash(PERMUTATIONS)
        signature.update_batch(shingles)
        return signature

    return sketch
