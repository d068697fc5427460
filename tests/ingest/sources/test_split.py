from __future__ import annotations

import pytest

from opensearch_winnow.ingest.sources.split import Split


@pytest.mark.parametrize(
    ("split", "offset", "expected"),
    [
        (Split("warc", "a", 100, 300, 200), 100, 0),
        (Split("warc", "a", 100, 300, 200), 150, 50),
        (Split("warc", "a", 100, 300, 200), 350, 200),  # the last item extends beyond the end
        (Split("warc", "a", 100, None, 200), 200, 100),
        (Split("parquet", "a", 10, 20, 5_000), 15, 2_500),  # rows
        (Split("files", "a", 0, 4, 1_000, ("b", "c", "d", "e")), 1, 250),
        (Split("jsonl", "a", 0, 0, 0), 0, 0),
    ],
)
def test_bytes_before_an_offset(split: Split, offset: int, expected: int) -> None:
    assert split.bytes_before(offset) == expected
