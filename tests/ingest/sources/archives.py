"""Builds web archives and reads sources, for tests."""

from __future__ import annotations

import io
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from fastwarc.stream_io import Lz4Writer, ZstdWriter

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources import Sources
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Split
from opensearch_winnow.ingest.sources.splits import splits as planned_splits

Pack = Callable[[bytes], bytes]
HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def record(
    url: str | int = "http://e/", content: bytes = HTML + b"<p>Hello", *, kind: str = "response", **fields: str
) -> bytes:
    """Return a WARC record with further `fields`. A number stands for a URL that ends in it."""
    url = f"http://e/{url}" if isinstance(url, int) else url
    known = {"WARC_Type": kind, "WARC_Target_URI": url, "WARC_Date": "2020-02-03T04:05:06Z"}
    known |= {"Content_Type": "application/http"} if kind in ("response", "request") else {}
    known |= {"Content_Length": str(len(content)), **fields}
    lines = [f"{name.replace('_', '-')}: {value}" for name, value in known.items()]
    return "\r\n".join(["WARC/1.0", *lines, "", ""]).encode() + content + b"\r\n\r\n"


def written_by(writer: Callable[..., ZstdWriter | Lz4Writer], content: bytes) -> bytes:
    out = io.BytesIO()
    with writer(out) as writing:
        writing.write(content)
    return out.getvalue()


zstd, lz4 = partial(written_by, ZstdWriter), partial(written_by, Lz4Writer)


def write_files(folder: Path, contents: Mapping[str, bytes]) -> Path:
    """Write files into a folder, and into folders in it."""
    for name, content in contents.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


@contextmanager
def little_memory(most: int) -> Iterator[None]:
    """Check that Python allocates no more than these bytes in the block."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


def items_of(reader: ModuleType, archive: bytes, page_bytes: int = 10 << 20) -> list[Item]:
    """Return the items of a whole archive, which are in order."""
    *found, (end, last) = reader.read_file(io.BytesIO(archive), page_bytes, name="a.warc")
    assert (end, last) == (len(archive), None)
    assert [start for start, _ in found] == sorted(start for start, _ in found)
    return [item for _, item in found if item is not None]


def read_in_turn(reader: ModuleType, path: Path, size: int) -> tuple[list[Split], list[list[tuple[int, Item | None]]]]:
    """Return the splits of a file and the items of each. A split starts where the one before it stopped."""
    splits, parts, stopped = list(reader.splits(str(path), size)), [], 0
    for split in splits:
        assert split.start == stopped
        *part, (stopped, _) = reader.read(split, 10 << 20)
        assert all(split.start <= start for start, _ in part)
        parts.append(part)
    assert stopped == path.stat().st_size
    return splits, parts


def items(*names: Path | str, size: int = 1_000_000, cap: int = 1_000_000, **options: Any) -> list[Item]:
    with Sources([str(name) for name in names], **options) as sources:
        return [item for split in planned_splits(sources, size) for _, item in read(split, cap) if item is not None]


def outcomes(found: list[Item]) -> dict[str, str]:
    """Return by URL whether an item is a page, or else the reason."""
    said = {}
    for item in found:
        assert not isinstance(item, Damage)
        url = item.page.url if isinstance(item, Failed) else item.url
        said[url] = "page" if isinstance(item, Page) else item.reason
    assert len(said) == len(found)
    return said


def urls(found: list[Item]) -> list[str]:
    return [item.url for item in found if isinstance(item, Page)]
