from __future__ import annotations

from base64 import b64encode
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.ingest.sources.page_fields import page_of

CAP = 100_000
JAN_2 = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


def page(**fields: object) -> Page:
    return page_of({"url": "https://example.org/", **fields}, CAP)


@pytest.mark.parametrize(
    ("fields", "content"),
    [
        ({"html": "<p>a"}, {"html": "<p>a"}),
        ({"raw_html": "<p>a", "text": "a"}, {"html": "<p>a"}),
        ({"html": None, "text": "a"}, {"text": "a"}),
        ({"html": "", "text": "a"}, {"text": "a"}),
        ({"html": "", "text": ""}, {"html": ""}),
        ({"text": "<p>a"}, {"text": "<p>a"}),
        ({"content": "a < b"}, {"text": "a < b"}),
        ({"content": " <!doctype html><p>a"}, {"html": " <!doctype html><p>a"}),
        ({"body": "<div>a</div>"}, {"html": "<div>a</div>"}),
        ({"html_base64": b64encode(b"<p>\xe4").decode()}, {"html": b"<p>\xe4"}),
    ],
)
def test_html_or_text(fields: dict[str, object], content: dict[str, Any]) -> None:
    assert page(**fields) == Page("https://example.org/", **content)


@pytest.mark.parametrize(
    ("names", "content"),
    [
        (FieldNames(text="content"), {"text": "<p>a"}),
        (FieldNames(text="story.words"), {"text": "<p>b"}),
        (FieldNames(text="bytes"), {"text": "<p>c"}),
        (FieldNames(html="content"), {"html": "<p>a"}),
        (FieldNames(html="bytes"), {"html": b"<p>c"}),
        (FieldNames(html="plain"), {"html": "d"}),
        (FieldNames(html="none", text="content"), {"text": "<p>a"}),
        (FieldNames(html="plain", text="content"), {"html": "d"}),
        (FieldNames(text="story.html"), {"html": "e"}),
        (FieldNames(), {"html": "<p>a"}),
    ],
)
def test_a_field_is_what_it_is_named_as(names: FieldNames, content: dict[str, Any]) -> None:
    story = {"words": "<p>b", "html": "e"}
    fields = {"url": "u", "content": "<p>a", "story": story, "bytes": b"<p>c", "plain": "d", "none": None}
    assert page_of(fields, CAP, names) == Page("u", **content)


def test_the_other_fields() -> None:
    fields = {"html": "x", "title": "T", "content_type": "text/html"}
    found = page_of({"uri": " https://example.org/a ", "codings": ["br"], **fields}, CAP)
    assert found == Page("https://example.org/a", codings=("br",), **fields)  # type: ignore[arg-type]
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
    for year in ("2020", 2020, "2020-01", 202001, "20200101"):
        assert page(text="x", date=year).fetched_at == datetime(2020, 1, 1, tzinfo=UTC)
    assert page(text="x", date="", timestamp=None).fetched_at is None
    assert page(text="x", date="2020-01-01", fetched_at="2024-01-02T03:04:05Z").fetched_at == JAN_2


@pytest.mark.parametrize(
    "value", [0, -1, "1970-01-01", "1969-12-31T23:59:59Z", "1970-01-01T01:00:00+14:00", "2099-01-01", "20990101000000"]
)
def test_dates_that_cannot_be_right_are_unknown(value: object) -> None:
    read = page(text="x", date=value)
    assert read.fetched_at is None
    assert read.wrong_date[:4] in (("2099",) if str(value).startswith("2099") else ("1969", "1970"))


def test_old_dates_are_right_in_a_data_set_and_others_are_noted() -> None:
    for day in ("1890-01-01", "1969-12-31", "1970-01-02"):
        assert page(text="x", date=day).fetched_at == datetime.fromisoformat(day).replace(tzinfo=UTC)
    for value in ("01/02/2021", "yesterday", "2023-13-45"):
        read = page_of({"url": "x", "text": "x", "date": value}, 100, lenient=True)
        assert (read.fetched_at, read.wrong_date) == (None, value)


@given(st.datetimes(datetime(1990, 1, 1), datetime(2026, 1, 1)))  # noqa: DTZ001
def test_a_date_in_any_form_is_the_same(moment: datetime) -> None:
    moment = moment.replace(microsecond=0, tzinfo=UTC)
    seconds = int(moment.timestamp())
    for value in (moment.isoformat(), f"{moment:%Y%m%d%H%M%S}", seconds, seconds * 1_000, seconds * 1_000_000):
        assert page(text="x", date=value).fetched_at == moment
