"""Attaches winnow to an index of your own, and detaches it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from opensearch_winnow.foundation.extras import extra
from opensearch_winnow.foundation.keywords import with_options
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.stores.attach_options import AttachOptions
from opensearch_winnow.stores.opening import is_address
from opensearch_winnow.stores.store import StoreError

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

    from opensearch_winnow.stores.opensearch.own_index.attach_reports import AttachReport, Detached
    from opensearch_winnow.stores.opensearch.requests.client import Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Attaching(AttachOptions):
    """The options of attaching an index with a client."""

    client: OpenSearch | None = None


@with_options(Attaching)
def attach(index: str, options: Attaching) -> AttachReport:
    """Make an index of your own a store, as the command `winnow attach` does, and report the outcomes of its documents.

    `index` is an address such as `http://localhost:9200/articles`; it may be an alias or a data stream. `text` names
    the field with the text, or several, which are joined; `title`, `url` and `time` name other fields. Without `url`,
    the `_id` is the address of a page. With `html`, the text is HTML. `below` is the object field that winnow's fields
    are put in. Without `text`, an index that is attached already is brought up to date.

    With `template`, the template of an alias or data stream gets winnow's part too, so that new indices are attached
    from their first document on. If no template fits, `pattern` fits the names of new indices, such as `logs-*`.

    `scheme`, `key` and `client` are as for `Index.open`. `slices` are worked on at the same time, and `per_second`
    limits the documents that are written. `progress` is called with the phase, the amount done and the total.
    """
    with connected(index, options.client) as (client, address):
        from opensearch_winnow.stores.opensearch.own_index import attach as attaching  # noqa: PLC0415 (needs opensearch-py)

        return attaching.attach(client, address, options)


def detach(index: str, *, client: OpenSearch | None = None, progress: Progress | None = None) -> Detached:
    """Remove everything that `attach` has added to an index, also from a copy of it, and report the removed parts.

    The mapping keeps the names of the fields, because engines cannot remove them. Raises a StoreError while another
    run adds fields.
    """
    with connected(index, client) as (used, address):
        from opensearch_winnow.stores.opensearch.own_index import attach as attaching  # noqa: PLC0415 (needs opensearch-py)

        return attaching.detach(used, address, progress)


def update(client: OpenSearch, address: Address, options: AttachOptions, *, is_attached: bool) -> AttachReport:
    """Attach an index, or bring it up to date. If it `is_attached` and has been detached since, the error says so."""
    from opensearch_winnow.stores.opensearch.own_index import attach as attaching  # noqa: PLC0415 (needs opensearch-py)

    try:
        return attaching.attach(client, address, options)
    except StoreError as error:
        if is_attached and (reason := attaching.gone(client, address)):
            raise StoreError(reason) from error
        raise


def follow(
    client: OpenSearch, address: Address, options: AttachOptions, seconds: float, *, is_attached: bool
) -> Iterator[AttachReport]:
    """Bring an index up to date again and again, with pauses, and yield each report."""
    while True:
        yield update(client, address, options, is_attached=is_attached)
        time.sleep(seconds)
        options, is_attached = options.of_attached(), True


@contextmanager
def connected(index: str, client: OpenSearch | None = None) -> Iterator[tuple[OpenSearch, Address]]:
    """Connect to the engine of an address, with patience for a long run; a `client` that is passed in is used."""
    if not is_address(index):
        raise StoreError(f"{index} is not an address: name an index, as in http://localhost:9200/articles")
    with extra("opensearch"):
        from opensearch_winnow.stores.opensearch.requests.client import Address, connect  # noqa: PLC0415

    address = Address.of(index)
    used = client or connect(address, patient=True)
    try:
        yield used, address
    finally:
        if client is None:
            used.close()
