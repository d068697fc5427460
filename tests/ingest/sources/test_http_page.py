from __future__ import annotations

import gzip
import io
from datetime import UTC, datetime

import pytest

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.http_page import Block, date, response
from opensearch_winnow.ingest.sources.split import Failed, Item, Skipped


def answer(fields: str, body: bytes = b"<p>x", end: bytes = b"\r\n") -> Item:
    """Return what a response with these fields, each with its line end, becomes."""
    content = b"HTTP/1.1 200 OK\r\n%b%b%b" % (fields.encode(), end, body)
    return response(Page("http://e/", html=b""), Block(len(content), io.BytesIO(content).read), 1 << 20)


@pytest.mark.parametrize(
    "kind",
    [
        *("text/html", "TEXT/HTML;charset=x", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-python"),
        "text/html, text/html",
    ],
)
def test_html_and_plain_text_are_pages(kind: str) -> None:
    assert answer(f"Content-Type: {kind}\r\n") == Page("http://e/", html=b"<p>x", content_type=kind)


@pytest.mark.parametrize(
    "kind",
    [
        *("image/png", "application/json", "application/octet-stream"),
        *("text/css", "text/x-javascript", "text/xml", "text/csv"),
    ],
)
def test_other_types_are_skipped(kind: str) -> None:
    assert answer(f"Content-Type: {kind.upper()}; a=b\r\n") == Skipped("http://e/", f"type {kind}")


@pytest.mark.parametrize(
    "line", ["", "Content-Type:\r\n", "Content-Type: html\r\n", "Content-Type: unknown/unknown\r\n"]
)
@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<!DOCTYPE html><title>x</title>", "text/html"),
        (b"Only words.", "text/plain"),
        (b"\x89PNG\r\n\x1a\n\0\0", None),
    ],
)
def test_without_a_sensible_type_the_bytes_decide(line: str, body: bytes, kind: str | None) -> None:
    for field, codings, content in (("", (), body), ("Content-Encoding: gzip\r\n", ("gzip",), gzip.compress(body))):
        page = Page("http://e/", html=content, content_type=kind, codings=codings)
        assert answer(field + line, content) == (page if kind else Skipped("http://e/", "no type"))


def test_http_headers_without_an_end() -> None:
    found = answer("X: y\r\n" * 20_000, body=b"", end=b"")
    assert isinstance(found, Failed)
    assert found.reason == "HTTP headers that do not end"
    page = Page("http://e/", html=b"", content_type="text/html")
    assert answer("Content-Type: text/html", body=b"", end=b"") == page


TIME = datetime(2020, 2, 3, 4, 5, 6, tzinfo=UTC)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("2020-02-03T04:05:06Z", TIME),
        ("2020-02-03T04:05:06.123456789Z", TIME.replace(microsecond=123456)),
        ("2020-02-03T04:05:06+02:00", TIME.replace(hour=2)),
        ("2020-02-03T04:05:06-0730", TIME.replace(hour=11, minute=35)),
        ("2020-02-03T04:05:06", TIME),
        ("2020-02-03T04:05Z", TIME.replace(second=0)),
        ("2020-02-03", datetime(2020, 2, 3, tzinfo=UTC)),
        ("2020-02", datetime(2020, 2, 1, tzinfo=UTC)),
        ("2020", datetime(2020, 1, 1, tzinfo=UTC)),
        ("20200203040506", TIME),
        ("20200203", datetime(2020, 2, 3, tzinfo=UTC)),
        ("20200203040506123", TIME),
        *((wrong, None) for wrong in ("2008-10-294T05:21:46-0700", "0001-01-01T00:00:00+23:00", "20209999040506")),
        *((wrong, None) for wrong in ("0000", "", "null", "yesterday")),
    ],
)
def test_dates(written: str, meant: datetime | None) -> None:
    assert date(written) == meant
    if meant:
        assert str(date(written)).endswith("+00:00")


def test_the_canonical_link_in_the_header() -> None:
    fields = "Content-Type: text/html\r\nLink: </style.css>; rel=preload\r\n"
    link = "LINK: </next>; rel=next,\r\n <http://e/é>; rel=Canonical\r\n"
    page = Page("http://e/", html=b"<p>x", content_type="text/html")
    assert answer(fields) == page
    page.canonical = "http://e/é"
    assert answer(fields + link) == page
