"""Action lines of bulk requests."""

from __future__ import annotations

import pytest

from opensearch_winnow.ingest.own_index.bulk_action import MalformedBulkError, bulk_action, option_text


def test_an_action() -> None:
    assert bulk_action(b'{"update": {"_id": 3, "_index": null}} \r\n') == ("update", {"_id": 3, "_index": None})


def test_numbers_are_texts() -> None:
    assert [option_text({"_id": 3, "_index": None}, name) for name in ("_id", "_index", "routing")] == ["3", None, None]


@pytest.mark.parametrize(
    "line",
    [
        *(b"", b"[]", b"{}", b"\xff", b'{"index": {}, "create": {}}', b'{"index": 1}', b'{"fetch": {}}'),
        b'{"index": {"_id": ' + b"[" * 100_000,
    ],
)
def test_what_is_no_action(line: bytes) -> None:
    with pytest.raises(MalformedBulkError, match="not an action of a _bulk body"):
        bulk_action(line)
