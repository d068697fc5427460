"""Checks every document of an attached index: its stamp does not fit, or its fields are those of its text."""

from __future__ import annotations

from typing import NamedTuple

from opensearchpy import OpenSearch, helpers

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.opensearch.own_pages import OwnPages
from tests.stores.opensearch.own_index import FIELDS

WRITTEN_BESIDE = ("cluster", "place", "stamp")  # not made from the text


class Stamped(NamedTuple):
    """How many documents have a stamp that fits, one that does not, and no fields."""

    fits: int
    stale: int
    none: int


def check_stamps(client: OpenSearch, name: str) -> Stamped:
    """Compute the fields of all documents anew. A stamp that fits wrong fields is an error."""
    client.indices.refresh(index=name)
    pages = OwnPages(FIELDS, Scheme())
    settings = client.indices.get_settings(index=name)
    pages.uuids.update((index, each["settings"]["index"]["uuid"]) for index, each in settings.items())
    fits = stale = none = 0
    for hit in helpers.scan(client, index=name, query={"query": {"match_all": {}}, "version": True}):
        stored = pages.stored(hit["_source"])
        plain = {key: value for key, value in hit["_source"].items() if not key.startswith("winnow")}
        if not stored:
            none += 1
        elif stored.get("stamp") != pages.stamp(hit):
            stale += 1
        else:
            made = pages.make({**hit, "_source": plain})
            assert {key: value for key, value in stored.items() if key not in WRITTEN_BESIDE} == made, hit["_id"]
            fits += 1
    return Stamped(fits, stale, none)
