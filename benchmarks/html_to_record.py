"""From the bytes of a page to its record: beside lxml alone, beside what one would assemble otherwise, and in parallel."""

from __future__ import annotations

import resource
import time
from io import BytesIO
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from benchmarks.crawled_pages import crawled_pages, source
from lxml import etree

from benchmarks.table import Run, Table, times
from benchmarks.timing import alternate
from opensearch_winnow.ingest.bulk import index
from opensearch_winnow.ingest.encoding import encoding_of, to_utf8
from opensearch_winnow.ingest.extractors import extractor
from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.mappings.records_file import RecordWriter

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

WORDS = 5  # in a shingle of the peers, as is usual with them
PERMUTATIONS = 128


def tables(run: Run) -> Iterator[Table]:
    pages = crawled_pages(run.size(60_000_000))
    size = sum(map(len, pages)) / 1e6
    yield beside_lxml(pages, size, rounds=run.size(5))
    yield beside_assembled(crawled_pages(run.size(4_000_000)))
    yield in_parallel(run, pages)


def beside_lxml(pages: list[bytes], size: float, rounds: int) -> Table:
    extract = extractor("lxml")
    candidates: dict[str, Callable[[], object]] = {
        "lxml: parse, and its own text": lambda: [lxml_text(page) for page in pages],
        "bytes → text": lambda: [extract(to_utf8(page, encoding_of(page))) for page in pages],
        "bytes → record": lambda: records(pages),
    }
    seconds = alternate(candidates, rounds)
    base = seconds["lxml: parse, and its own text"]
    rows = [(name, f"{size / each:,.0f} MB/s", times(each / base)) for name, each in seconds.items()]
    return Table("HTML to record, one process", ("", "speed", "time beside lxml"), rows, source())


def lxml_text(page: bytes) -> str:
    """What lxml does at the least: its tree, and all text in it, scripts too, with blocks glued together."""
    tree = etree.fromstring(page, etree.HTMLParser(encoding="utf-8", huge_tree=True))
    return "" if tree is None else etree.tostring(tree, method="text", encoding="unicode")


def records(pages: list[bytes]) -> None:
    maker = RecordMaker(Recipe())  # a new one each time, so that it has seen nothing
    for number, page in enumerate(pages):
        maker.make(Page(f"http://example.org/{number}", html=page))


def beside_assembled(pages: list[bytes]) -> Table:
    """What a user would put together from well-known parts: text, shingles of words, MinHash."""
    candidates: dict[str, Callable[[], object]] = {"winnow": lambda: records(pages)}
    try:
        from bs4 import BeautifulSoup  # noqa: PLC0415
        from datasketch import MinHash  # noqa: PLC0415
        from trafilatura import extract  # noqa: PLC0415
    except ImportError:
        pass
    else:

        def sketch(text: str) -> object:
            words = text.lower().split()
            shingles = {" ".join(words[i : i + WORDS]).encode() for i in range(max(len(words) - WORDS + 1, 1))}
            signature = MinHash(PERMUTATIONS)
            signature.update_batch(shingles)
            return signature

        candidates["trafilatura, datasketch"] = lambda: [sketch(extract(page) or "") for page in pages]
        candidates["BeautifulSoup (lxml), datasketch"] = lambda: [
            sketch(BeautifulSoup(page, "lxml").get_text(" ")) for page in pages
        ]
    seconds = alternate(candidates, 2)
    rows = [
        (name, f"{len(pages) / each:,.0f} pages/s", times(each / seconds["winnow"])) for name, each in seconds.items()
    ]
    note = "The peers make a MinHash of 128 values; ours are fingerprints, positions, MOD and MinHash sketches, bands, digests."
    return Table("Beside what one would assemble", ("", "speed", "time beside winnow"), rows, note)


def in_parallel(run: Run, pages: list[bytes]) -> Table:
    """The whole way from a compressed archive to a file of records, by the clock."""
    with TemporaryDirectory() as name:
        archive = Path(name, "crawl.warc.gz")
        write_archive(archive, islice(cycle(pages), run.size(4 * len(pages))))
        best = {1: float("inf"), 2: float("inf")}
        for _ in range(run.size(3)):
            for workers in best:
                best[workers] = min(best[workers], index_archive(archive, Path(name, "records.parquet"), workers))
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    rows = [(f"{workers} workers", f"{seconds:.1f} s", times(best[1] / seconds)) for workers, seconds in best.items()]
    note = f"The largest worker took {memory:,.0f} MB."
    return Table("WARC.gz to records.parquet", ("", "time", "speed beside one worker"), rows, note)


def write_archive(path: Path, pages: Iterator[bytes]) -> None:
    from warcio.statusandheaders import StatusAndHeaders  # noqa: PLC0415
    from warcio.warcwriter import WARCWriter  # noqa: PLC0415

    headers = StatusAndHeaders("200 OK", [("Content-Type", "text/html")], protocol="HTTP/1.1")
    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for number, page in enumerate(pages):
            # Not the same twice: what was seen is not parsed again.
            content = b"%s<p>%d" % (page, number)
            record = writer.create_warc_record(
                f"http://example.org/{number}",
                "response",
                payload=BytesIO(content),
                http_headers=headers,
            )
            writer.write_record(record)


def index_archive(archive: Path, to: Path, workers: int) -> float:
    to.unlink(missing_ok=True)
    recipe = Recipe()
    start = time.monotonic()
    with (
        Sources([str(archive)]) as sources,
        RecordWriter(to, recipe.scheme) as records_file,
        FailedPages(to.with_suffix(".failed.jsonl")) as failed,
    ):
        index(sources.splits(archive.stat().st_size // 16 + 1), records_file, failed, recipe, workers=workers)
    return time.monotonic() - start
