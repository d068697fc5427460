"""Checks the one promise about documents that pass the gateway: fields are right, or do not seem to be."""

from __future__ import annotations

from typing import Any, NamedTuple

from opensearchpy import helpers

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.mappings.attached_fields import AttachedFields
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex

OF_ATTACHING = ("stamp", "arrival", "cluster")  # all others are made from the document alone


def maker_of(own: OwnIndex, fields: AttachedFields = FIELDS) -> FieldsMaker:
    """Return what makes the fields of an index."""
    maker = FieldsMaker(fields, Scheme())
    settings = own.client.indices.get_settings(index=own.name)
    maker.uuids.update((name, each["settings"]["index"]["uuid"]) for name, each in settings.items())
    return maker


def has_fitting_stamp(maker: FieldsMaker, document: dict[str, Any]) -> bool:
    """Return whether a document says that its fields are right. Fails if they are not."""
    stored = maker.fields.stored(document["_source"])
    if stored.get("stamp") != maker.fitting_stamp(document):
        return False
    fresh = document | {"_source": {key: value for key, value in document["_source"].items() if "winnow" not in key}}
    made = maker.made(AttachedDocument.of(fresh, maker.fields))
    assert all(stored.get(name) == value for name, value in made.items() if name not in OF_ATTACHING)
    assert isinstance(stored.get("arrival"), int)
    assert stored.get("cluster")
    return True


def fits(own: OwnIndex, id_: str, **params: str) -> bool:
    """Return whether a stored document says that its fields are right. Fails if they are not."""
    return has_fitting_stamp(maker_of(own), own.client.get(index=own.name, id=id_, params=params))


class Stamped(NamedTuple):
    """Counts of documents: with a stamp that fits, and with another one or none."""

    fits: int
    stale: int


def check_stamps(own: OwnIndex) -> Stamped:
    """Compute the fields of all documents anew. A stamp that fits wrong fields is an error."""
    own.client.indices.refresh(index=own.name)
    maker = maker_of(own)
    hits = helpers.scan(own.client, index=own.name, query={"query": {"match_all": {}}, "version": True})
    fitting = [has_fitting_stamp(maker, hit) for hit in hits]
    return Stamped(fitting.count(True), fitting.count(False))
