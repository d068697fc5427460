"""Fields for documents of your own: plain values, for any client and any index."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.hashes import hashes_of
from opensearch_winnow.mappings.opensearch_document import hash_fields
from opensearch_winnow.mappings.opensearch_mapping import fragment
from opensearch_winnow.mappings.record import Record


def winnow_fields(text: str, scheme: Scheme = Scheme(), *, name: str = "", cluster: str = "") -> dict[str, Any]:
    """The fields to merge into a document of your own: fingerprints, sketches and their counts. A text is not one.

    A name tells the language of code, as that of a file does. Before anything is clustered, the cluster of a document
    is its own `_id`: then a search can be collapsed (`dedupe`). Without, the field is left out.
    """
    hashes = hashes_of(text, scheme, name or None)
    fields = hash_fields(Record(url="", text="", content_digest="", **hashes._asdict()))
    return {**fields, "cluster": cluster} if cluster else fields


def mapping_fragment(below: str = "") -> dict[str, Any]:
    """`{"properties": …}` of these fields, for the mapping of your own index; if said, below an object field of it."""
    return fragment(below)
