"""The fields of documents that programs of any language write to an index of their own. Nothing is kept."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Annotated

import msgspec
from msgspec import UNSET, UnsetType

from opensearch_winnow.answers.own_index.made_fields import FieldsDocument, MadeFields, WinnowFields
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.ingest.own_index.attached_document import AttachedDocument
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.web.form import FormError
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.sent_json import (
    CONTENT_TYPE,
    MAX_BATCH,
    NDJSON,
    check_one_text,
    decoded,
    is_given,
    lines,
    members,
    sent_body,
)
from opensearch_winnow.web.served import HasScheme
from opensearch_winnow.web.serving.batch import Batch

DOCUMENTS = "documents"
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

    documents: Annotated[list[SentDocument], msgspec.Meta(max_length=MAX_BATCH)] | None = None


class _SentDocuments(SentDocument, forbid_unknown_fields=True):
    """Like `SentDocuments`, but decoded one by one, so that an invalid document does not fail the batch."""

    documents: msgspec.Raw | UnsetType = UNSET


class SentFieldsMaker:
    """Makes the fields of documents with one scheme."""

    def __init__(self, scheme: Scheme) -> None:
        self._scheme = with_key(scheme)
        self._of_text = FieldsMaker(AttachedFields(text=("text",), url="url"), self._scheme)

    @cached_property
    def _of_html(self) -> FieldsMaker:
        # Only when it is needed: preparing for HTML takes far longer than the fields of a text.
        return FieldsMaker(AttachedFields(text=("html",), url="url", html=True), self._scheme)

    def fields(self, sent: SentDocument) -> WinnowFields:
        """Return the fields of a document. The text may be empty, but must be sent; otherwise raises FormError."""
        check_cancelled()
        if sent.text is None and sent.html is None:
            raise FormError(NO_TEXT)
        check_one_text(sent.text, sent.html)
        maker = self._of_text if sent.html is None else self._of_html
        source = {"text": sent.text, "html": sent.html, "url": sent.url}
        try:
            made = maker.stamped(AttachedDocument("" if sent.id is None else str(sent.id), source))
        except ExtractError as error:
            raise FormError(f"The HTML cannot be read: {error}") from None
        return WinnowFields(**made)

    def made(self, part: bytes) -> MadeFields:
        """Return the fields of one of several documents, or the reason why it has none."""
        try:
            return MadeFields(fields=self.fields(decoded(part, SentDocument)))
        except FormError as error:
            return MadeFields(error=str(error))


def answer(served: HasScheme, request: ScreenRequest) -> ScreenAnswer:
    body, scheme = sent_body(request.form), served.scheme.id
    if request.form[CONTENT_TYPE] == NDJSON:
        return _batch(lines(body, DOCUMENTS), scheme, as_lines=True)
    sent = decoded(body, _SentDocuments)
    if not is_given(sent.documents):
        return ScreenAnswer(FieldsDocument(scheme, SentFieldsMaker(served.scheme).fields(sent)))
    if sent.text is not None or sent.html is not None:
        raise FormError("Send one document, or several as documents, not both.")
    return _batch(members(sent.documents, DOCUMENTS), scheme, as_lines=False)


def _batch(parts: list[bytes], scheme: str, *, as_lines: bool) -> ScreenAnswer:
    def making(served: HasScheme) -> Callable[[bytes], MadeFields]:
        return SentFieldsMaker(served.scheme).made

    return ScreenAnswer(Batch(parts, making, name=DOCUMENTS, scheme=scheme, as_lines=as_lines))


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
