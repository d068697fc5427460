"""The items of every file in a set of real and deliberately damaged web archives."""

from __future__ import annotations

import contextlib
import io
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from warcio.archiveiterator import ArchiveIterator
from warcio.exceptions import ArchiveLoadFailed

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import arc, wacz, warc
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Skipped
from tests.ingest.sources.archives import read_in_turn

Unpacked = Callable[[str], Path]

PYWB, WARCIO = "pywb/sample_archive/warcs", "warcio/test/data"
DEDUPLICATION = "iipc/specifications/warc-deduplication/samples"

# By archive: the numbers of pages, of revisits among them, of skipped and failed pages, and of damaged bytes. Other
# files are damage as a whole.
OUTCOMES = {
    "aut/src/test/resources/arc/badexample.arc.gz": (1, 0, 1, 3, 0),
    "aut/src/test/resources/arc/example.arc.gz": (130, 0, 169, 0, 0),
    "aut/src/test/resources/warc/example.docs.warc.gz": (0, 0, 9, 0, 0),
    "aut/src/test/resources/warc/example.txt.warc.gz": (2, 0, 0, 0, 0),
    "aut/src/test/resources/warc/example.warc.gz": (130, 0, 169, 0, 0),
    "aut/src/test/resources/warc/issue-493.warc": (4, 0, 11, 0, 0),
    "aut/src/test/resources/warc/issue-514.warc": (1, 0, 3, 0, 0),
    **{f"cc/whirlwind.{end}": (1, 0, 0, 0, 0) for end in ("warc", "warc.gz", "warc.wet", "warc.wet.gz")},
    **{f"cc/whirlwind.warc.{end}": (0, 0, 0, 0, 0) for end in ("wat", "wat.gz")},
    **{f"iipc/primers/web-archive-formats/hello-world.{end}": (1, 0, 2, 0, 0) for end in ("warc", "warc.gz")},
    f"{DEDUPLICATION}/20130729-heritrix-original.warc.gz": (1, 0, 0, 0, 0),
    f"{DEDUPLICATION}/20130729-heritrix-revisit-with-http-headers.warc.gz": (1, 1, 0, 0, 0),
    f"{DEDUPLICATION}/20141124-heritrix-server-not-modified.warc.gz": (1, 1, 0, 0, 0),
    f"{DEDUPLICATION}/20141129-heritrix-original.warc.gz": (1, 0, 0, 0, 0),
    f"{DEDUPLICATION}/20141129-heritrix-revisit-with-http-headers-and-new-warc-headers.warc.gz": (1, 1, 0, 0, 0),
    "jwarc/test-resources/org/netpreserve/jwarc/cc.warc.gz": (1, 0, 0, 0, 0),
    "jwarc/test-resources/org/netpreserve/jwarc/gzip_extra_sl.warc.gz": (0, 0, 0, 0, 0),
    "pywb/sample_archive/waczs/invalid_example_1.wacz": (0, 0, 0, 0, 0),
    "pywb/sample_archive/waczs/valid_example_1.wacz": (1, 0, 0, 0, 0),
    **{f"{folder}/bad.arc": (0, 0, 0, 3, 134) for folder in (PYWB, WARCIO)},
    f"{PYWB}/dupes.warc.gz": (3, 2, 9, 0, 0),
    **{f"{folder}/example-bad.warc.gz.bad": (2, 1, 1, 0, 0) for folder in (PYWB, WARCIO)},
    f"{PYWB}/example-extra.warc": (3, 2, 0, 1, 0),
    f"{PYWB}/example-url-agnostic-orig.warc.gz": (1, 0, 0, 0, 0),
    f"{PYWB}/example-url-agnostic-revisit.warc.gz": (1, 1, 0, 0, 0),
    f"{PYWB}/example-wget-1-14.warc.gz": (1, 0, 3, 0, 0),
    f"{PYWB}/example-wpull.warc.gz": (1, 0, 1, 0, 0),
    **{f"{folder}/example.arc": (1, 0, 0, 0, 0) for folder in (PYWB, WARCIO)},
    **{f"{folder}/example.arc.gz": (1, 0, 0, 0, 0) for folder in (PYWB, WARCIO)},
    f"{PYWB}/example.warc": (2, 1, 1, 0, 7),
    f"{PYWB}/example.warc.gz": (2, 1, 1, 0, 0),
    f"{PYWB}/example2.warc.gz": (1, 0, 0, 0, 0),
    f"{PYWB}/httpbin-resource.warc.gz": (0, 0, 1, 0, 0),
    f"{PYWB}/iana.warc.gz": (16, 0, 155, 0, 0),
    f"{PYWB}/missing-status-text.warc": (0, 0, 1, 0, 0),
    **{f"{folder}/post-test.warc.gz": (0, 0, 3, 0, 0) for folder in (PYWB, WARCIO)},
    **{f"resiliparse/tests/data/block-sized-records.{end}": (0, 0, 0, 0, 0) for end in ("warc", "warc.gz", "warc.lz4")},
    "resiliparse/tests/data/clipped.warc.gz": (0, 0, 0, 1, 0),
    "resiliparse/tests/data/clueweb-quirk.warc.gz": (29, 0, 0, 0, 0),
    **{f"resiliparse/tests/data/warcfile.{end}": (16, 0, 0, 0, 0) for end in ("warc", "warc.gz", "warc.lz4")},
    **{
        f"ukwa/small-arcs-and-warcs/IAH-20080430204825-00000-blackbook-truncated.{end}": (3, 0, 5, 0, 0)
        for end in ("arc", "arc.gz", "warc", "warc.gz")
    },
    "ukwa/small-arcs-and-warcs/IAH-urls-wget.warc.gz": (3, 0, 16, 0, 0),
    "ukwa/wikipedia-sopa-blackout-2012/wikipedia-blackout/sopa-wikipedia-homepage.warc.gz": (3, 0, 74, 0, 0),
    "ukwa/wikipedia-sopa-blackout-2012/wikipedia-post-blackout/main-page.warc.gz": (3, 0, 70, 0, 0),
    "ukwa/wikipedia-sopa-blackout-2012/wikipedia-post-blackout/post-blackout.warc.gz": (3, 0, 51, 0, 0),
    "wabac/test/data/example.zip": (19, 1, 156, 0, 0),
    f"{WARCIO}/example-bad-non-chunked.warc.gz": (2, 1, 0, 0, 0),
    f"{WARCIO}/example-digest.warc": (0, 0, 0, 0, 0),
    f"{WARCIO}/example-iana.org-chunked.warc": (1, 0, 0, 0, 0),
    f"{WARCIO}/example-resource.warc.gz": (1, 0, 0, 0, 0),
    f"{WARCIO}/example-space-in-target-uri.warc.gz": (0, 0, 1, 0, 0),
    f"{WARCIO}/example-space-in-url.arc": (0, 0, 0, 1, 0),
    f"{WARCIO}/example-trunc.warc": (1, 0, 0, 0, 6),
    f"{WARCIO}/example-wget-bad-target-uri.warc.gz": (1, 0, 2, 0, 0),
    f"{WARCIO}/example-wrong-chunks.warc.gz": (1, 0, 0, 0, 0),
    **{f"{WARCIO}/example.{end}": (2, 1, 0, 0, 0) for end in ("warc", "warc.gz")},
}


def _reader(path: Path) -> ModuleType:
    with path.open("rb") as file:
        head = file.read(65_536)
    return wacz if wacz.looks_like(head) else arc if arc.looks_like(head) else warc


def _items(path: Path) -> list[Item]:
    found: list[Item] = []
    for split in _reader(path).splits(str(path), 1 << 40):
        *items, (_, last) = {"arc": arc, "wacz": wacz, "warc": warc}[split.format].read(split, 10 << 20)
        assert last is None
        found += [item for _, item in items if item is not None]
    return found


def _outcome(items: list[Item]) -> tuple[int, int, int, int, int]:
    pages = [item for item in items if isinstance(item, Page)]
    return (
        len(pages),
        sum(page.revisit_of is not None for page in pages),
        sum(isinstance(item, Skipped) for item in items),
        sum(isinstance(item, Failed) for item in items),
        sum(item.skipped for item in items if isinstance(item, Damage)),
    )


@pytest.mark.check
def test_each_file_has_the_expected_items(unpacked: Unpacked) -> None:
    folder = unpacked("warc-samples")
    found = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        start = time.monotonic()
        found[str(path.relative_to(folder))] = _outcome(_items(path))
        assert time.monotonic() - start < 10, f"{path} takes too long"
    others = [found.pop(name) for name in found.keys() - OUTCOMES.keys()]
    assert found == OUTCOMES
    assert all(damaged and not any(rest) for *rest, damaged in others)


def test_every_record_that_warcio_finds_is_found(unpacked: Unpacked) -> None:
    folder = unpacked("warc-samples")
    compared = 0
    for name, (_, _, _, _, damaged) in OUTCOMES.items():
        path = folder / name
        reader = _reader(path)
        with path.open("rb") as file:
            if reader is wacz or not reader.looks_like(file.read(65_536)):
                continue
        theirs, whole = _with_warcio(path)
        ours = Counter(_url(item) for item in _items(path) if not isinstance(item, Damage))
        assert not theirs - ours, name
        if whole and not damaged:
            assert ours == theirs, name
        compared += whole
    assert compared > 50


def _with_warcio(path: Path) -> tuple[Counter[str], bool]:
    """Return the URLs of the captures that warcio finds, and whether it reached the end of the file."""
    urls: Counter[str] = Counter()
    with path.open("rb") as file, contextlib.redirect_stderr(io.StringIO()):
        try:
            for record in ArchiveIterator(file):
                if record.rec_type in ("response", "resource", "revisit", "conversion"):
                    urls[record.rec_headers.get_header("WARC-Target-URI") or record.rec_headers.get_header("uri")] += 1
        except ArchiveLoadFailed:
            return urls, False
    return urls, True


def _url(item: Page | Skipped | Failed) -> str:
    url = item.page.url if isinstance(item, Failed) else item.url
    return url.replace(" ", "%20") if url.startswith("file:") else url  # as warcio writes it


@pytest.mark.parametrize("size", [1, 100, 1_000, 10_000, 100_000])
def test_all_splits_together_have_every_item_once(size: int, unpacked: Unpacked) -> None:
    folder = unpacked("warc-samples")
    for name in OUTCOMES:
        path = folder / name
        if path.stat().st_size > 1_000 * size:
            continue
        if _reader(path) is not wacz:
            _, parts = read_in_turn(_reader(path), path, size)
            assert [item for part in parts for _, item in part] == _items(path), name
