"""The fields of documents that programs of any language write to an index of their own. Nothing is kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NotRequired, TypedDict, cast

import msgspec

from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.document_fields import DocumentFields
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.mappings.own_fields import OwnFields
from opensearch_winnow.web.form import FormError
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.sent_json import BODY, CONTENT_TYPE, NDJSON, check_one_text, decoded, decoded_each, lines

NO_TEXT = "There is no text: send text or html."


class SentDocument(msgspec.Struct, forbid_unknown_fields=True):
    """A document: its `text`, or its `html`, of which the visible text counts. `url` is its address, and `id` its
    `_id`, which is its cluster until documents are clustered."""

    text: str | None = None
    html: str | None = None
    url: str | None = None
    id: str | int | None = None


class SentDocuments(SentDocument, forbid_unknown_fields=True):
    """One document, or several as `documents`."""

    documents: list[SentDocument] | None = None


class _Batch(SentDocument, forbid_unknown_fields=True):
    """The same, with documents that are decoded one by one: what is wrong with one is no fault of the others."""

    documents: list[msgspec.Raw] | None = None


class WinnowFields(TypedDict):
    """The fields, to be put below the object field `winnow` of the document. Hashes are strings."""

    stamp: str
    url: NotRequired[str]
    url_length: NotRequired[int]
    site: NotRequired[str]
    text_digest: str
    shingle_digest: str
    fingerprints: str
    fingerprint_count: int
    positions: str
    shingle_count: int
    sketch: str
    sketch_count: int
    minhash: str
    bands: str
    cluster: NotRequired[str]


class MadeFields(TypedDict):
    """The fields of a document, or why it has none."""

    fields: NotRequired[WinnowFields]
    error: NotRequired[str]


class FieldsDocument(TypedDict):
    """The fields of a document, or of several in their order. `scheme` is the id of the scheme of all hashes."""

    scheme: str
    fields: NotRequired[WinnowFields]
    documents: NotRequired[list[MadeFields]]


class FieldsMaker:
    """Makes the fields of documents with one scheme."""

    def __init__(self, index: Index) -> None:
        self.scheme = index.scheme
        self._of_text = DocumentFields(OwnFields(text=("text",), url="url"), self.scheme)

    @cached_property
    def _of_html(self) -> DocumentFields:
        # Only if it is needed: to prepare for HTML takes far longer than the fields of a text.
        return DocumentFields(OwnFields(text=("html",), url="url", html=True), self.scheme)

    def fields(self, sent: SentDocument) -> WinnowFields:
        """Return the fields of a document. Raises FormError if it has no text."""
        check_cancelled()
        check_one_text(sent.text, sent.html)
        maker = self._of_text if sent.html is None else self._of_html
        source = {"text": sent.text, "html": sent.html, "url": sent.url}
        try:
            made = maker.made(source, "" if sent.id is None else str(sent.id))
        except ExtractError as error:
            raise FormError(f"The HTML cannot be read: {error}") from None
        if made is None:
            raise FormError(NO_TEXT)
        return cast("WinnowFields", {name: value for name, value in made.items() if value is not None})

    def made(self, sent: SentDocument | FormError) -> MadeFields:
        """Return the fields of one of several documents, or why it has none."""
        try:
            if isinstance(sent, FormError):
                raise sent
            return {"fields": self.fields(sent)}
        except FormError as error:
            return {"error": str(error)}


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    maker, body = FieldsMaker(index), request.form[BODY]
    assert isinstance(body, bytes)
    if request.form[CONTENT_TYPE] == NDJSON:
        return ScreenAnswer(list(_lines(maker, body)))
    sent = decoded(body, _Batch)
    document: FieldsDocument = {"scheme": maker.scheme.id}
    if sent.documents is None:
        document["fields"] = maker.fields(sent)
    else:
        if sent.text is not None or sent.html is not None:
            raise FormError("Send one document, or several as documents, not both.")
        document["documents"] = [maker.made(each) for each in decoded_each(sent.documents, SentDocument)]
    return ScreenAnswer(document)


def _lines(maker: FieldsMaker, body: bytes) -> Iterator[dict[str, Any]]:
    for sent in decoded_each(lines(body), SentDocument):
        yield {"scheme": maker.scheme.id, **maker.made(sent)}


SCREEN = Screen(
    name="fields",
    path="",
    api="/fields",
    summary="The fields of documents, to be written to an index of your own; nothing is kept",
    answer=answer,
    returns=FieldsDocument,
    heavy=True,
    sends=SentDocuments,
    sends_json=True,
)
