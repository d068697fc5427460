"""Opens an attached index."""

from __future__ import annotations

from typing import Any

from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.mappings.attached_fields import Attachment, attachment_in, nested_path
from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.stores.opensearch.own_index.attached_index_client import AttachedIndexClient
from opensearch_winnow.stores.opensearch.requests.client import Address
from opensearch_winnow.stores.store import StoreError

Mappings = dict[str, Any]  # the answer to GET /NAME/_mapping: by the names of the indices


def attachment_of(found: Mappings, name: str, *, naming_indices: bool = True) -> Attachment | None:
    """Return the attachment of the indices behind `name`; None if there is none.

    With `naming_indices`, errors name these indices. A client of the gateway may know only the name of the alias.
    Indices that are new behind an alias or in a data stream may have none: `winnow attach --update` gives them one.
    """
    try:
        attachments = [
            attachment_in(each["mappings"], index if naming_indices else name) for index, each in found.items()
        ]
    except RecordsError as error:
        raise StoreError(str(error)) from None
    different = {str(each.meta()): each for each in attachments if each is not None}
    if len(different) > 1:
        names = f": {', '.join(found)}" if naming_indices else ""
        raise StoreError(f"{name} has indices that were attached in different ways; name one of them{names}")
    return next(iter(different.values()), None)


def attached_index_client(
    client: OpenSearch, address: Address, attachment: Attachment, scheme: Scheme, found: Mappings
) -> AttachedIndexClient:
    """Return the client of an attached index, whose mappings were `found`."""
    nested = {
        field: path
        for described in found.values()
        for field in attachment.fields.text
        if (path := nested_path(described["mappings"], field))
    }
    maker = FieldsMaker(attachment.fields, scheme)
    maker.note_mappings(found)
    return AttachedIndexClient(
        client,
        str(address),
        address.index,
        maker,
        settings_index=attachment.settings_index,
        nested=nested,
    )
