"""The readers of what strangers send: pages, bodies, archives, tables, queries, stores. See core_targets.py.

Each may refuse its input with an error of this project. There is no second implementation to compare with.
"""

from __future__ import annotations

import gzip
import io
import json
import os
import zipfile
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import pyarrow as pa
import pyarrow.parquet as pq

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.canonical_link import canonical_url
from opensearch_winnow.ingest.encoding import encoding_of, to_text, to_utf8
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.ingest.extractors.lxml_events import lxml_extractor
from opensearch_winnow.ingest.http_body import decoded
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.splits import splits
from opensearch_winnow.ingest.sources.unpacked import DamagedError
from opensearch_winnow.queries.words import Words
from tests.fuzz.input_reader import Reader
from tests.fuzz.targets import Target

REFUSED = (WinnowError, DamagedError)
CODINGS = ("gzip", "deflate", "br", "zstd", "chunked", "identity", "x-gzip, chunked", "nonsense")
MAX_PAGE_BYTES = 1 << 20
LXML = lxml_extractor(alt=True)

HTML = (
    b"<!doctype html><html><head><meta charset=utf-8><title>A <b>title</b></title><script>x</script></head><body>"
    b"<p>One &eacute; <pre> two\n</pre><svg><desc>d</desc></svg><img alt='three'><template><p>4</template>"
    b"<noframes>&lt;p&gt;five</noframes><table><tr><td>6<td>7</table><!-- 8 --></body></html>"
)
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: identity\r\n\r\n" + HTML
WARC = (
    b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://a.example/\r\nWARC-Date: 2020-01-01T00:00:00Z\r\n"
    b"WARC-Record-ID: <urn:uuid:1>\r\nContent-Type: application/http; msgtype=response\r\nContent-Length: %d\r\n\r\n"
    b"%b\r\n\r\n" % (len(RESPONSE), RESPONSE)
)
ARC = (
    b"filedesc://a.arc 0.0.0.0 20200101000000 text/plain 76\n1 0 Someone\n"
    b"URL IP-address Archive-date Content-type Archive-length\n\n\n"
    b"http://a.example/ 1.2.3.4 20200101000000 text/html %d\n%b\n" % (len(RESPONSE), RESPONSE)
)
LINES = b"".join(
    json.dumps(row).encode() + b"\n"
    for row in ({"url": "http://a.example/", "text": "one"}, {"url": "http://b.example/", "html": "<p>two", "date": 1})
)


@cache
def folder() -> Path:
    shared = "/dev/shm"
    return Path(mkdtemp(prefix=f"fuzz-{os.getpid()}-", dir=shared if Path(shared).is_dir() else None))


def reading(name: str) -> Target:
    """Return a target that reads its input as a source with this name."""

    def fuzz(data: bytes, _: bool) -> None:
        path = folder() / name
        path.write_bytes(data)
        with suppress(*REFUSED), Sources([str(path)], zips=True) as sources:
            for split in splits(sources, 1 << 20):
                deque(read(split, MAX_PAGE_BYTES), maxlen=0)

    return fuzz


def fuzz_html(data: bytes, _: bool) -> None:
    with suppress(ExtractError):
        found = LXML(data)
        found.text.encode("utf-8", "surrogatepass")
        assert found.title is None or isinstance(found.title, str)
        canonical_url(found.canonical, "http://a.example/", found.base)


def fuzz_encoding(data: bytes, _: bool) -> None:
    reader = Reader(data)
    labels = reader.take().decode("latin-1")
    body = reader.rest()
    for markup in (False, True):
        encoding = encoding_of(body, labels or None, markup=markup)
        to_text(body, encoding)
        to_utf8(body, encoding).decode("utf-8")


def fuzz_http_body(data: bytes, _: bool) -> None:
    reader = Reader(data)
    codings = [CODINGS[reader.byte() % len(CODINGS)] for _ in range(reader.byte() % 4)]
    with suppress(*REFUSED):
        assert len(decoded(reader.rest(), codings, 1 << 16)) <= 1 << 16


def fuzz_query(data: bytes, _: bool) -> None:
    reader = Reader(data)
    any_word = bool(reader.byte() & 1)
    with suppress(*REFUSED):
        Words.of(reader.rest_text(), any_word=any_word)


def fuzz_store(data: bytes, _: bool) -> None:
    path = folder() / "a.winnow"
    for left in folder().glob("a.winnow*"):
        left.unlink()
    path.write_bytes(data)
    with suppress(*REFUSED), Index.open(str(path)) as index:
        index.statistics()
        with suppress(*REFUSED):
            index.search("quick fox")
        with suppress(*REFUSED):
            index.similar(text="the quick brown fox jumps over the lazy dog " * 3)


def parquet_file() -> bytes:
    output = io.BytesIO()
    pq.write_table(pa.table({"url": ["http://a.example/", "http://b.example/"], "text": ["one", None]}), output)
    return output.getvalue()


def zip_of(files: dict[str, bytes], method: int = zipfile.ZIP_DEFLATED) -> bytes:
    output = io.BytesIO()
    with zipfile.ZipFile(output, "w", method) as zipped:
        for name, content in files.items():
            zipped.writestr(name, content)
    return output.getvalue()


def store_file() -> bytes:
    path = folder() / "seed.winnow"
    path.unlink(missing_ok=True)
    with Index.open(str(path)) as index:
        index.add([Page("http://a.example/", "the quick brown fox jumps over the lazy dog " * 4)])
    return path.read_bytes()


FORMATS: dict[str, Callable[[], list[bytes]]] = {
    "warc": lambda: [WARC + WARC, gzip.compress(WARC)],
    "arc": lambda: [ARC],
    "wacz": lambda: [zip_of({"archive/a.warc.gz": gzip.compress(WARC), "datapackage.json": b"{}"}, zipfile.ZIP_STORED)],
    "zip": lambda: [zip_of({"ä/a.html": HTML, "rows.jsonl": LINES, "d/": b""})],
    "csv": lambda: [b'id,text\n1,"a\nb"\n', "url;text\n1;x\n".encode("utf-16")],
    "jsonl": lambda: [LINES, gzip.compress(LINES)],
    "parquet": lambda: [parquet_file()],
}
ENCODED = [b"\x08utf-8;  " + HTML, b"\x00" + HTML.replace(b"utf-8", b"gbk") + b"\xb0\xa1" * 20]
TARGETS: dict[str, tuple[Target, Callable[[], list[bytes]]]] = {
    "html": (fuzz_html, lambda: [HTML]),
    "encoding": (fuzz_encoding, lambda: ENCODED),
    "http_body": (fuzz_http_body, lambda: [b"\x01\x00" + gzip.compress(HTML), b"\x01\x044\r\nabcd\r\n0\r\n\r\n"]),
    "query": (fuzz_query, lambda: [b'\x00\x03one "two three" -four fi* (six)']),
    **{name: (reading(f"a.{name}"), seeds) for name, seeds in FORMATS.items()},
    "store": (fuzz_store, lambda: [store_file()]),
}
