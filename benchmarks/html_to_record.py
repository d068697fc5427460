"""From the bytes of a page to its record, compared with lxml and with well-known parts combined, and with workers."""

from __future__ import annotations

import gzip
import time
import warnings
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
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
from opensearch_winnow.ingest.runs.failed_pages import FailedPages
from opensearch_winnow.ingest.runs.index_splits import index
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.record_files.record_writer import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    Sketch = Callable[[bytes], object]

WORDS = 10  # in a shingle
PERMUTATIONS = 128  # the default of datasketch
PLAIN = "lxml: its tree, and the text that it writes"


def tables(run: Run) -> Iterator[Table]:
    pages = crawled_pages(run.size(80_000_000))
    yield beside_lxml(pages, rounds=run.size(5))
    yield beside_assembled(crawled_pages(run.size(20_000_000)))
    yield with_workers(run, pages)


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
    rows += [(line, "", "") for line in missing]
    note = "The peers stop at a MinHash. Ours makes fingerprints with positions, two sketches, bands and three digests."
    return Table(f"Beside what one would assemble: {len(pages):,} pages", ("", "speed", "time"), rows, note)


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


def with_workers(run: Run, pages: list[bytes]) -> Table:
    """Measure the whole way from a compressed archive to a record file, by the clock."""
    best = {1: float("inf"), 2: float("inf")}
    memory = dict.fromkeys(best, 0)
    with TemporaryDirectory() as name:
        archive = Path(name, "crawl.warc.gz")
        size = write_archive(archive, islice(cycle(pages), run.size(3 * len(pages))))
        for _ in range(run.size(3)):
            for workers, before in list(best.items()):
                seconds, peak = index_archive(archive, Path(name, "records.parquet"), workers)
                best[workers], memory[workers] = min(before, seconds), max(memory[workers], peak)
    rows = [
        (
            str(workers),
            f"{size / seconds / 1e6:,.0f} MB/s",
            f"{best[1] / seconds:.2f} ×",
            f"{memory[workers] / 1e6:.0f} MB",
        )
        for workers, seconds in best.items()
    ]
    columns = ("workers", "speed", "beside one", "largest worker")
    note = "Wall-clock time. Speed is in MB of HTML; the process that writes the records runs beside the workers."
    return Table(f"WARC.gz to records.parquet: {size / 1e6:,.0f} MB", columns, rows, note)


def write_archive(path: Path, pages: Iterable[bytes]) -> int:
    """Write an archive and return the bytes of its pages. They all differ, because a known page is not parsed again."""
    size = 0
    with path.open("wb") as file:
        for number, page in enumerate(pages):
            block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n%s<p>%d" % (page, number)
            fields = b"WARC-Type: response\r\nWARC-Target-URI: http://example.org/%d\r\n" % number
            fields += b"WARC-Date: 2026-01-01T00:00:00Z\r\nWARC-Record-ID: <urn:uuid:%032x>\r\n" % number
            fields += b"Content-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n" % len(block)
            file.write(gzip.compress(b"WARC/1.0\r\n%s\r\n%s\r\n\r\n" % (fields, block), 6, mtime=0))
            size += len(page)
    return size


def index_archive(archive: Path, to: Path, workers: int) -> tuple[float, int]:
    """Return the seconds, and the peak memory of the largest worker in bytes."""
    to.unlink(missing_ok=True)
    peak = 0

    def look() -> bool:
        nonlocal peak
        for child in Path("/proc/self/task").glob("*/children"):
            for pid in child.read_text().split():
                status = Path(f"/proc/{pid}/status")
                lines = status.read_text().splitlines() if status.exists() else []
                peak = max(peak, *(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM")), 0)
        return False

    recipe = Recipe()
    with (
        Sources([str(archive)]) as sources,
        RecordWriter(to, recipe.scheme) as kept,
        FailedPages(to.with_suffix(".failed.jsonl")) as failed,
    ):
        start = time.monotonic()
        split = max(archive.stat().st_size // 16, 1)
        index(sources.splits(split), kept, failed, recipe, workers=workers, stop=look)
    return time.monotonic() - start, peak
