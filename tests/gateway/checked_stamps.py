"""Checks the one promise about documents that pass the gateway: fields are right, or do not seem to be."""

from __future__ import annotations

from typing import Any, NamedTuple

from opensearchpy import helpers

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.stores.opensearch.own_index.attached_pages import AttachedPages
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex

OF_ATTACHING = ("stamp", "arrival", "cluster")  # all others are made from the document alone


def pages_of(own: OwnIndex, fields: AttachedFields = FIELDS) -> AttachedPages:
    """Return what makes the fields of an index."""
    pages = AttachedPages(fields, Scheme())
    settings = own.client.indices.get_settings(index=own.name)
    pages.uuids.update((name, each["settings"]["index"]["uuid"]) for name, each in settings.items())
    return pages


def has_fitting_stamp(pages: AttachedPages, document: dict[str, Any]) -> bool:
    """Return whether a document says that its fields are right. Fails if they are not."""
    stored = pages.stored(document["_source"])
    if stored.get("stamp") != pages.stamp(document):
        return False
    fresh = document | {"_source": {key: value for key, value in document["_source"].items() if "winnow" not in key}}
    made = pages.make(fresh)
    assert {name: stored.get(name) for name in made} == made
    assert isinstance(stored.get("arrival"), int)
    assert stored.get("cluster")
    return True


def fits(own: OwnIndex, id_: str, **params: str) -> bool:
    """Return whether a stored document says that its fields are right. Fails if they are not."""
    return has_fitting_stamp(pages_of(own), own.client.get(index=own.name, id=id_, params=params))


class Stamped(NamedTuple):
    """Counts of documents: with a stamp that fits, and with another one or none."""

    fits: int
    stale: int


def check_stamps(own: OwnIndex) -> Stamped:
    """Compute the fields of all documents anew. A stamp that fits wrong fields is an error."""
    own.client.indices.refresh(index=own.name)
    pages = pages_of(own)
    hits = helpers.scan(own.client, index=own.name, query={"query": {"match_all": {}}, "version": True})
    fitting = [has_fitting_stamp(pages, hit) for hit in hits]
    return Stamped(fitting.count(True), fitting.count(False))
