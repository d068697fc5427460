from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime

import pytest

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.http_page import Block, date, response
from opensearch_winnow.ingest.sources.split import Failed, Item, Skipped


def answer(content: bytes, page_bytes: int = 1 << 20) -> Item:
    return response(Page("http://e/", html=b""), Block(len(content), io.BytesIO(content).read), page_bytes)


@pytest.mark.parametrize(
    "kind",
    [
        "text/html",
        "TEXT/HTML;charset=x",
        "application/xhtml+xml",
        "text/plain",
        "text/markdown",
        "text/x-python",
        "text/html, text/html",
    ],
)
def test_html_and_plain_text_are_pages(kind: str) -> None:
    found = answer(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\n\r\n<p>x".encode())
    assert found == Page("http://e/", html=b"<p>x", content_type=kind)


@pytest.mark.parametrize(
    "kind",
    [
        "image/png",
        "application/json",
        "application/octet-stream",
        "text/css",
        "text/x-javascript",
        "text/xml",
        "text/csv",
    ],
)
def test_other_types_are_skipped(kind: str) -> None:
    found = answer(f"HTTP/1.1 200 OK\r\nContent-Type: {kind.upper()}; a=b\r\n\r\n<p>x".encode())
    assert found == Skipped("http://e/", f"type {kind}")


@pytest.mark.parametrize(
    "line", [b"", b"Content-Type:\r\n", b"Content-Type: html\r\n", b"Content-Type: unknown/unknown\r\n"]
)
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!DOCTYPE html><title>x</title>", "text/html"),
        (b"Only words.", "text/plain"),
        (b"\x89PNG\r\n\x1a\n\0\0", None),
    ],
)
def test_without_a_sensible_type_the_bytes_decide(line: bytes, body: bytes, kind: str | None) -> None:
    found = answer(b"HTTP/1.1 200 OK\r\n" + line + b"\r\n" + body)
    assert found == (Page("http://e/", html=body, content_type=kind) if kind else Skipped("http://e/", "no type"))
    packed = gzip.compress(body)
    found = answer(b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n" + line + b"\r\n" + packed)
    page = Page("http://e/", html=packed, content_type=kind, codings=("gzip",))
    assert found == (page if kind else Skipped("http://e/", "no type"))


def test_http_headers_without_an_end() -> None:
    found = answer(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 20_000)
    assert isinstance(found, Failed)
    assert found.reason == "HTTP headers that do not end"
    assert answer(b"HTTP/1.1 200 OK\r\nContent-Type: text/html") == Page(
        "http://e/", html=b"", content_type="text/html"
    )


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2020-02-03T04:05:06Z", datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("2020-02-03T04:05:06.123456789Z", datetime(2020, 2, 3, 4, 5, 6, 123456, tzinfo=UTC)),
        ("2020-02-03T04:05:06+02:00", datetime(2020, 2, 3, 2, 5, 6, tzinfo=UTC)),
        ("2020-02-03T04:05:06-0730", datetime(2020, 2, 3, 11, 35, 6, tzinfo=UTC)),
        ("2020-02-03T04:05:06", datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("2020-02-03T04:05Z", datetime(2020, 2, 3, 4, 5, tzinfo=UTC)),
        ("2020-02-03", datetime(2020, 2, 3, tzinfo=UTC)),
        ("2020-02", datetime(2020, 2, 1, tzinfo=UTC)),
        ("2020", datetime(2020, 1, 1, tzinfo=UTC)),
        ("20200203040506", datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("20200203", datetime(2020, 2, 3, tzinfo=UTC)),
        ("20200203040506123", datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)),
        ("2008-10-294T05:21:46-0700", None),
        ("0001-01-01T00:00:00+23:00", None),
        ("0000", None),
        ("20209999040506", None),
        ("", None),
        ("null", None),
        ("yesterday", None),
    ],
)
def test_dates(written: str, meant: datetime | None) -> None:
    assert date(written) == meant
    if meant:
        assert str(date(written)).endswith("+00:00")


def test_the_canonical_link_in_the_header() -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nLink: </style.css>; rel=preload\r\n%b\r\n<p>x"
    for link, named in (
        (b"", None),
        (b"LINK: </next>; rel=next,\r\n <http://e/\xc3\xa9>; rel=Canonical\r\n", "http://e/é"),
    ):
        found = answer(head % link)
        assert isinstance(found, Page)
        assert (found.canonical, found.html) == (named, b"<p>x")
