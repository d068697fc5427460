"""Times are read by the format of the mapping, as engines read them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.foundation.written_time import EPOCH
from opensearch_winnow.ingest.own_index.attached_reader import AttachedReader
from opensearch_winnow.ingest.own_index.date_format import USUAL_FORMAT, DateFormat
from opensearch_winnow.mappings.attached_fields import AttachedFields

NOON = datetime(2024, 12, 31, 12, tzinfo=UTC)
# A format, a value that an engine takes for it, and the time that it is.
WRITTEN: list[tuple[str, Any, datetime]] = [
    *(("dd.MM.yyyy HH:mm||epoch_second", value, NOON) for value in ("31.12.2024 12:00", 1735646400, "1735646400")),
    (USUAL_FORMAT, 1735646400_000, NOON),
    (USUAL_FORMAT, "2024-12", datetime(2024, 12, 1, tzinfo=UTC)),
    (USUAL_FORMAT, 2024, datetime(2024, 1, 1, tzinfo=UTC)),
    (USUAL_FORMAT, -1, EPOCH - timedelta(milliseconds=1)),
    ("strict_date_optional_time_nanos", "2024-12-31T12:00:00.123456789Z", NOON.replace(microsecond=123456)),
    ("date_optional_time", "2024-12-31T13:00+01:00", NOON),
    ("yyyyMMdd", 20241231, NOON.replace(hour=0)),
    ("basic_date_time", "20241231T120000.250Z", NOON.replace(microsecond=250_000)),
    ("yyyy-MM-dd'T'HH:mm:ss[.SSS]XXX", "2024-12-31T13:00:00+01:00", NOON),
    ("yyyy/M/d H:m", "2024/12/31 12:0", NOON),
    ("EEE, dd MMM yyyy HH:mm:ss Z", "Tue, 31 Dec 2024 13:00:00 +0100", NOON),
    ("dd-MMM-yy", "31-Dec-24", NOON.replace(hour=0)),
]


@pytest.mark.parametrize(("written", "value", "time"), WRITTEN)
def test_a_time_is_read_by_its_format(written: str, value: Any, time: datetime) -> None:
    assert DateFormat(written).time(value) == time
    assert DateFormat(written).unknown == []


@pytest.mark.parametrize("value", ["31.02.2024", "", "yesterday", "2024-12-31", "٣١.١٢.٢٠٢٤ x", True, None, {}, 1e300])
def test_what_cannot_be_read_is_unknown(value: Any) -> None:
    assert DateFormat("dd.MM.yyyy||epoch_second").time(value) is None


@pytest.mark.parametrize("part", ["week_date", "yyyy-'W'ww", "HH:mm:ss z", "yyyy yyyy", "[yyyy", "hour_minute"])
def test_a_format_that_is_not_known_is_named(part: str) -> None:
    read = DateFormat(f"{part}||epoch_second")
    assert read.unknown == [part]
    assert read.time(0) == EPOCH


@given(
    st.integers(-30_000_000_000_000_000, 250_000_000_000_000_000).map(lambda us: EPOCH + timedelta(microseconds=us)),
    st.integers(-18 * 60, 18 * 60).map(lambda minutes: timezone(timedelta(minutes=minutes))),
)
def test_what_is_written_is_read(time: datetime, zone: timezone) -> None:
    local = time.astimezone(zone)
    assert DateFormat().time(local.isoformat()) == time
    assert DateFormat("yyyy-MM-dd HH:mm:ss.SSSSSS XXX").time(local.strftime("%Y-%m-%d %H:%M:%S.%f %z")) == time
    assert DateFormat("hh:mm a, d MMMM yyyy Z").time(local.strftime("%I:%M %p, %d %B %Y %z")) == time.replace(
        second=0, microsecond=0
    )
    micros = (time - EPOCH) // timedelta(microseconds=1)
    assert DateFormat("epoch_second").time(micros // 1_000_000) == EPOCH + timedelta(seconds=micros // 1_000_000)
    assert DateFormat("epoch_millis").time(micros // 1_000) == EPOCH + timedelta(milliseconds=micros // 1_000)


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_format_and_any_text_are_answered(written: str, text: str) -> None:
    DateFormat(written).time(text)


def test_a_document_has_the_fields_of_its_time() -> None:
    reader = AttachedReader(AttachedFields(text=("body",), time="at"))
    assert reader.time_fields({"at": [1735646400]}, DateFormat("epoch_second"))["fetched_at"] == "2024-12-31T12:00:00Z"
    for wrong in ("soon", "2099-01-01", "1970-01-01", "1969-12-31T23:59:59Z"):
        assert reader.time_fields({"at": wrong}) == {"fetched_at": None, "fetched_us": None}
