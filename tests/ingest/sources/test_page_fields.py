from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.page_fields import page_of

CAP = 100_000
JAN_2 = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


def page(**fields: object) -> Page:
    return page_of({"url": "https://example.org/", **fields}, CAP)


@pytest.mark.parametrize(
    ("fields", "html", "text"),
    [
        ({"html": "<p>a"}, "<p>a", None),
        ({"raw_html": "<p>a", "text": "a"}, "<p>a", None),
        ({"html": None, "text": "a"}, None, "a"),
        ({"html": "", "text": "a"}, None, "a"),
        ({"html": "", "text": ""}, "", None),
        ({"text": "<p>a"}, None, "<p>a"),
        ({"content": "a < b"}, None, "a < b"),
        ({"content": " <!doctype html><p>a"}, " <!doctype html><p>a", None),
        ({"body": "<div>a</div>"}, "<div>a</div>", None),
        ({"html_base64": b64encode(b"<p>\xe4").decode()}, b"<p>\xe4", None),
    ],
)
def test_html_or_text(fields: dict[str, object], html: str | bytes | None, text: str | None) -> None:
    assert page(**fields) == Page("https://example.org/", html=html, text=text)


def test_the_other_fields() -> None:
    fields = {
        "uri": " https://example.org/a ",
        "html": "x",
        "title": "T",
        "content_type": "text/html",
        "codings": ["br"],
    }
    assert page_of(fields, CAP) == Page(
        "https://example.org/a", html="x", title="T", content_type="text/html", codings=("br",)
    )
    assert page_of({"url": None, "link": "https://example.org/b", "text": "x"}, CAP).url == "https://example.org/b"


@pytest.mark.parametrize(
    "value",
    [
        *("2024-01-02T03:04:05Z", "2024-01-02T03:04:05", "2024-01-02 04:04:05+01:00", "2024-01-02 03:04:05 UTC"),
        *("20240102030405", 20240102030405, 1704164645, 1704164645.0, "1704164645"),
        *(1704164645000, "1704164645000", 1704164645000000, 1704164645000000000),
    ],
)
@pytest.mark.parametrize("name", ["fetched_at", "crawled_at", "warc_date", "timestamp", "date"])
def test_dates(name: str, value: object) -> None:
    assert page(text="x", **{name: value}).fetched_at == JAN_2


def test_other_dates() -> None:
    assert page(text="x", date="2024-01-02").fetched_at == datetime(2024, 1, 2, tzinfo=UTC)
    assert page(text="x", date="20240102").fetched_at == datetime(2024, 1, 2, tzinfo=UTC)
    assert page(text="x", date=1704164645.5).fetched_at == JAN_2.replace(microsecond=500_000)
    assert page(text="x", date="", timestamp=None).fetched_at is None
    assert page(text="x", date="2020-01-01", fetched_at="2024-01-02T03:04:05Z").fetched_at == JAN_2


@given(st.datetimes(datetime(1990, 1, 1), datetime(2200, 1, 1)))  # noqa: DTZ001
def test_a_date_in_any_form_is_the_same(moment: datetime) -> None:
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    seconds = int(moment.timestamp())
    for value in (moment.isoformat(), f"{moment:%Y%m%d%H%M%S}", seconds, seconds * 1_000, seconds * 1_000_000):
        assert page(text="x", date=value).fetched_at == moment
