"""Writes sources that were made to exhaust the memory, the disk or the time of a program that reads them."""

from __future__ import annotations

import gzip
import json
import zipfile
import zlib
from typing import TYPE_CHECKING

from tests.hostile_parquet import write_aborting, write_bomb, write_wide

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from benchmarks.table import Run

PIECE = bytes(1 << 20)
LAUGHS = 10  # entities, each ten times the one before


def hostile_inputs() -> dict[str, Callable[[Path, Run], Path]]:
    """Return functions by name. Each writes its input into a folder, and returns the source to index."""
    return {
        "an ordinary page": lambda folder, _: page(folder, b"<p>some words of a page"),
        "gzip bomb, a page of 1 GB": lambda folder, run: page(
            folder, packed(run.size(10**9), wbits=31), "Content-Encoding: gzip\r\n"
        ),
        "gzip in gzip, 1 GB": lambda folder, run: page(
            folder, gzip.compress(packed(run.size(10**9), wbits=31)), "Content-Encoding: gzip, gzip\r\n"
        ),
        "WARC record of 1 GB in gzip": lambda folder, run: archive_bomb(folder, run.size(10**9)),
        "JSON line of 1 GB in gzip": lambda folder, run: line_bomb(folder, run.size(10**9)),
        "zip bomb, a WARC of 1 GB": lambda folder, run: zip_bomb(folder, run.size(10**9)),
        "zip slip: ../../x.warc, and a link": lambda folder, _: zip_slip(folder),
        "800,000 nested elements": lambda folder, run: page(
            folder, b"<div>" * run.size(800_000) + b"deep" + b"</div>" * run.size(800_000)
        ),
        "a million attributes": lambda folder, run: page(
            folder, b"<p %s>one" % b" ".join(b"a%d" % number for number in range(run.size(10**6)))
        ),
        "stray ends, quadratic for a parser": lambda folder, run: page(
            folder, b"<b>" * run.size(200_000) + b"</i>" * run.size(400_000) + b"one"
        ),
        "a million entities": lambda folder, run: page(folder, b"<p>" + b"&amp;&#x41; " * run.size(500_000)),
        "billion laughs in a DTD": lambda folder, _: page(folder, laughs()),
        "JSON nested a million deep": lambda folder, run: line(folder, '{"url": "u", "html": ' + "[" * run.size(10**6)),
        "JSON number of a million digits": lambda folder, run: line(
            folder, '{"url": "u", "text": "x", "date": ' + "9" * run.size(10**6) + "}"
        ),
        "HTTP header of a million fields": lambda folder, run: page(
            folder, b"<p>one", "".join(f"X-{number}: x\r\n" for number in range(run.size(10**6)))
        ),
        "WARC header of a million fields": lambda folder, run: page(
            folder, b"<p>one", record="".join(f"X-{number}: x\r\n" for number in range(run.size(10**6)))
        ),
        "Parquet, a cell of 1.2 GB": lambda folder, run: write_bomb(
            folder / "a.parquet", run.size(1_200_000_000, least=20_000_000)
        ),
        "the same, with a footer that lies": lambda folder, run: write_bomb(
            folder / "a.parquet", run.size(1_200_000_000, least=20_000_000), claimed=100
        ),
        "Parquet, a cell of 600 MB": lambda folder, run: write_bomb(
            folder / "a.parquet", run.size(600_000_000, least=20_000_000)
        ),
        "Parquet, 200,000 columns": lambda folder, run: write_wide(folder / "a.parquet", run.size(200_000)),
        "Parquet, 600,000 chunks of columns": lambda folder, run: write_wide(
            folder / "a.parquet", run.size(9_998, least=2), run.size(60)
        ),
        "Parquet that aborts Arrow": lambda folder, _: write_aborting(folder / "a.parquet"),
        "a folder with a link to /etc": lambda folder, _: linked(folder),
    }


def page(folder: Path, body: bytes, http: str = "", record: str = "") -> Path:
    """Write a WARC file with one page, with further fields in its headers."""
    path = folder / "a.warc"
    path.write_bytes(response(body, http, record))
    return path


def response(body: bytes, http: str = "", record: str = "", length: int | None = None) -> bytes:
    block = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{http}\r\n".encode() + body
    fields = f"WARC-Type: response\r\nWARC-Target-URI: http://example.org/\r\n{record}"
    fields += "Content-Type: application/http; msgtype=response\r\n"
    return f"WARC/1.0\r\n{fields}Content-Length: {length or len(block)}\r\n\r\n".encode() + block + b"\r\n\r\n"


def zeros(size: int) -> Iterator[bytes]:
    for done in range(0, size, len(PIECE)):
        yield PIECE[: size - done]


def packed(size: int, *, wbits: int, before: bytes = b"") -> bytes:
    packer = zlib.compressobj(9, wbits=wbits)
    return b"".join([packer.compress(before), *map(packer.compress, zeros(size)), packer.flush()])


def archive_bomb(folder: Path, size: int) -> Path:
    path = folder / "a.warc.gz"
    path.write_bytes(packed(size, wbits=31, before=response(b"", length=size)[:-4]))
    return path


def line_bomb(folder: Path, size: int) -> Path:
    path = folder / "a.jsonl.gz"
    path.write_bytes(packed(size, wbits=31, before=b'{"url": "http://example.org/", "html": "'))
    return path


def zip_bomb(folder: Path, size: int) -> Path:
    path = folder / "a.wacz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped,
        zipped.open("a.warc", "w", force_zip64=True) as file,
    ):
        file.write(response(b"<p>one"))
        file.writelines(zeros(size))
    return path


def zip_slip(folder: Path) -> Path:
    path = folder / "a.wacz"
    with zipfile.ZipFile(path, "w") as zipped:
        zipped.writestr("../../x.warc", response(b"<p>one"))
        link = zipfile.ZipInfo("link.warc")
        link.external_attr = 0o120777 << 16
        zipped.writestr(link, "/etc/passwd")
    return path


def laughs() -> bytes:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, LAUGHS))
    return (
        f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY l0 "lol">{entities}]><html><p>&l{LAUGHS - 1};</html>'.encode()
    )


def line(folder: Path, content: str) -> Path:
    path = folder / "a.jsonl"
    path.write_text(json.dumps({"url": "http://example.org/first", "text": "some words"}) + f"\n{content}\n")
    return path


def linked(folder: Path) -> Path:
    path = folder / "mirror"
    path.mkdir()
    (path / "index.html").write_bytes(b"<p>some words of a page")
    (path / "passwd.txt").symlink_to("/etc/passwd")
    (path / "etc").symlink_to("/etc")
    return path
