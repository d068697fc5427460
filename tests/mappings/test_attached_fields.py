"""The mapping that attaching gives an index of your own."""

from __future__ import annotations

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.attached_fields import WINNOW_FIELDS, AttachedFields, Attachment, attachment_in


def test_a_mapping_keeps_the_meta_of_others_and_has_all_fields() -> None:
    attachment = Attachment.of(AttachedFields(text=("body",), below="w"), Scheme(), "winnow.a.settings")
    made = attachment.mapping({"_meta": {"owner": "the newsroom"}})
    assert made["_meta"]["owner"] == "the newsroom"
    assert attachment_in(made, "a") == attachment
    assert made["properties"]["w"]["properties"] == WINNOW_FIELDS


def test_a_mapping_without_objects_gets_no_guard() -> None:
    """Elasticsearch refuses an object that is not enabled there, and with it the whole request."""
    made = Attachment.of(AttachedFields(text=("body",)), Scheme(), "s").mapping({"subobjects": False})
    assert WINNOW_FIELDS.keys() - made["properties"]["winnow"]["properties"].keys() == {"guard"}
