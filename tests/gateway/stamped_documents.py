"""Counts the documents of an attached index whose stamps fit, and checks the fields of those."""

from __future__ import annotations

from typing import NamedTuple

from opensearchpy import helpers

from tests.gateway.checked_stamps import has_fitting_stamp, pages_of
from tests.stores.opensearch.own_articles import OwnIndex


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
