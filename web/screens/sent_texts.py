"""The comparison of texts that programs send. Nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypedDict, cast

import msgspec

from opensearch_winnow.answers.comparison_document import (
    ComparedCaptureDocument,
    PassageDocument,
    RelationshipDocument,
    comparison_document,
)
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.ingest.own_reader import OwnReader
from opensearch_winnow.mappings.own_fields import OwnFields
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.page_finder import PageFinder, PageNotFoundError
from opensearch_winnow.queries.boilerplate import Boilerplate
from opensearch_winnow.queries.compare import compare
from opensearch_winnow.web.form import FormError
from opensearch_winnow.web.scheme_only import SchemeOnly
from opensearch_winnow.web.screen import Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest
from opensearch_winnow.web.sent_json import BODY, CONTENT_TYPE, NDJSON, check_one_text, decoded, decoded_each, lines

READERS = {
    "text": OwnReader(OwnFields(text=("text",))),
    "html": OwnReader(OwnFields(text=("html",), html=True)),
}


class SentSide(msgspec.Struct, forbid_unknown_fields=True):
    """A text: as `text`, as `html`, of which the visible text counts, or the `url` of a page of the store. With a text,
    `url` is its name, which tells the language of code."""

    text: str | None = None
    html: str | None = None
    url: str | None = None


class SentPair(msgspec.Struct, forbid_unknown_fields=True):
    """Two texts to compare."""

    a: SentSide
    b: SentSide


class SentPairs(msgspec.Struct, forbid_unknown_fields=True):
    """Two texts to compare, `a` and `b`, or several `pairs`."""

    a: SentSide | None = None
    b: SentSide | None = None
    pairs: list[SentPair] | None = None


class _Batch(msgspec.Struct, forbid_unknown_fields=True):
    """The same, with pairs that are decoded one by one: what is wrong with one is no fault of the others."""

    a: SentSide | None = None
    b: SentSide | None = None
    pairs: list[msgspec.Raw] | None = None


class PairDocument(TypedDict, total=False):
    """The comparison of two texts, as `winnow compare --json` prints it; of one of several pairs, an `error` instead if
    there is no comparing it."""

    resemblance: float
    containment: float
    contained: float
    relationship: RelationshipDocument | None
    a: ComparedCaptureDocument
    b: ComparedCaptureDocument
    passages: list[PassageDocument]
    boilerplate: list[PassageDocument]
    error: str


class PairsDocument(PairDocument, total=False):
    """One comparison, or several `pairs` in their order. `scheme` is the id of the scheme of all hashes."""

    scheme: str
    pairs: list[PairDocument]


class _Side(NamedTuple):
    text: str
    name: str | None
    page: Record | None = None

    @property
    def site(self) -> str | None:
        return self.page.site if self.page else None


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    body = request.form[BODY]
    assert isinstance(body, bytes)
    boilerplate = None if isinstance(index, SchemeOnly) else index.boilerplate()
    if request.form[CONTENT_TYPE] == NDJSON:
        answers = (_compared_or_refused(index, each, boilerplate) for each in decoded_each(lines(body), SentPair))
        return ScreenAnswer([{"scheme": index.scheme.id, **each} for each in answers])
    sent = decoded(body, _Batch)
    if sent.pairs is not None:
        if sent.a is not None or sent.b is not None:
            raise FormError("Send one pair, or several as pairs, not both.")
        pairs = [_compared_or_refused(index, each, boilerplate) for each in decoded_each(sent.pairs, SentPair)]
        return ScreenAnswer(PairsDocument(scheme=index.scheme.id, pairs=pairs))
    if sent.a is None or sent.b is None:
        raise FormError('Send two texts: {"a": {"text": …}, "b": {"text": …}}, or several of these as "pairs".')
    return ScreenAnswer({"scheme": index.scheme.id, **_compared(index, SentPair(sent.a, sent.b), boilerplate)})


def _compared_or_refused(
    index: Index, pair: SentPair | FormError, boilerplate: Sequence[Boilerplate] | None
) -> PairDocument:
    try:
        if isinstance(pair, FormError):
            raise pair
        return _compared(index, pair, boilerplate)
    except (FormError, QuestionError, PageNotFoundError) as error:
        return {"error": str(error)}


def _compared(index: Index, pair: SentPair, boilerplate: Sequence[Boilerplate] | None) -> PairDocument:
    check_cancelled()
    a, b = _side(index, pair.a, "a"), _side(index, pair.b, "b")
    comparison = compare(
        a.text,
        b.text,
        index.scheme,
        names=(a.name, b.name),
        boilerplate=boilerplate or (),
        sites=(a.site, b.site),
    )
    document = comparison_document(comparison, a.page, b.page, boilerplate=boilerplate is not None)
    return cast("PairDocument", document)


def _side(index: Index, sent: SentSide, name: str) -> _Side:
    check_one_text(sent.text, sent.html, f" of {name}")
    for kind, content in (("html", sent.html), ("text", sent.text)):
        if content is not None:
            try:
                return _Side(READERS[kind].text({kind: content}), sent.url)
            except ExtractError as error:
                raise FormError(f"The HTML of {name} cannot be read: {error}") from None
    if sent.url is None:
        raise FormError(f"{name} has no text: send text or html{_or_url(index)}.")
    if isinstance(index, SchemeOnly):
        raise FormError(f"This server has no store: send the text of {name}, as text or html.")
    page = PageFinder(index.store).with_text(sent.url)
    return _Side(page.text, page.url, page)


def _or_url(index: Index) -> str:
    return "" if isinstance(index, SchemeOnly) else ", or the url of a page"


SCREEN = Screen(
    name="compare_texts",
    path="",
    api="/compare",
    summary="What two texts sent with the request share; nothing is kept",
    answer=answer,
    returns=PairsDocument,
    heavy=True,
    sends=SentPairs,
    sends_json=True,
)
