"""The numbers of winnow's fields in a document that another program has written."""

from __future__ import annotations

from opensearch_winnow import Scheme
from opensearch_winnow.stores.opensearch.own_index.attached_pages import AttachedPages
from tests.stores.opensearch.own_articles import FIELDS


def test_counts_that_were_written_as_floats_are_whole_numbers() -> None:
    stored = AttachedPages(FIELDS, Scheme()).stored({FIELDS.below: {"shingle_count": 7.0, "text_digest": "0f"}})
    assert stored == {"shingle_count": 7, "text_digest": "0f"}
    assert isinstance(stored["shingle_count"], int)
