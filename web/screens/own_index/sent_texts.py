"""The comparison of texts that programs send. Nothing is kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Annotated, NamedTuple, Self, TypeVar

import msgspec
from msgspec import UNSET, UnsetType

from opensearch_winnow.foundation.answers import Answer, answer, inlined, key
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.extractors import ExtractError
from opensearch_winnow.ingest.own_index.attached_reader import AttachedReader
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.page_finder import PageNotFoundError
from opensearch_winnow.queries.compare import ComparedCapture, Comparison, compare
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate
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

PAIRS = "pairs"
Served = TypeVar("Served", bound=HasScheme)
READERS = {
    "text": AttachedReader(AttachedFields(text=("text",))),
    "html": AttachedReader(AttachedFields(text=("html",), html=True)),
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
    pairs: Annotated[list[SentPair], msgspec.Meta(max_length=MAX_BATCH)] | None = None


class _SentPairs(msgspec.Struct, forbid_unknown_fields=True):
    """Pairs that are decoded one by one, so that an invalid pair does not fail the batch."""

    a: SentSide | None = None
    b: SentSide | None = None
    pairs: msgspec.Raw | UnsetType = UNSET


@answer
class SentComparison(Answer):
    """The comparison of two texts, as `winnow compare --json` prints it; or an error, if one of several pairs cannot be
    compared."""

    comparison: Comparison | None = inlined(optional=True)
    error: str | None = key("The reason why the texts cannot be compared.", optional=True, default=None)


@answer
class SentComparisons(Answer):
    """One comparison, or several in the order of their pairs."""

    scheme: str = key("The id of the scheme of all hashes.")
    comparison: Comparison | None = inlined(optional=True)
    pairs: list[SentComparison] | None = key("The comparison of each of several pairs.", optional=True, default=None)


class _Side(NamedTuple):
    text: str
    name: str | None
    page: Record | None = None

    @property
    def site(self) -> str | None:
        return self.page.site if self.page else None

    @property
    def capture(self) -> ComparedCapture | None:
        return ComparedCapture(self.page.id, self.page.url, self.page.fetched_at) if self.page else None


class _Comparer(NamedTuple):
    """Compares two texts. Without a store, there is no boilerplate, and URLs stand for no pages."""

    scheme: Scheme
    boilerplate: Sequence[Boilerplate] | None = None
    page: Callable[[str], Record] | None = None  # the page of a URL, with its text

    @classmethod
    def of_index(cls, index: Index) -> Self:
        return cls(index.scheme, index.boilerplate(), partial(index.find, with_text=True))

    @classmethod
    def of_scheme(cls, served: HasScheme) -> Self:
        return cls(served.scheme)

    def compared(self, pair: SentPair) -> Comparison:
        check_cancelled()
        a, b = self._side(pair.a, "a"), self._side(pair.b, "b")
        comparison = compare(
            a.text,
            b.text,
            self.scheme,
            names=(a.name, b.name),
            boilerplate=self.boilerplate or (),
            sites=(a.site, b.site),
        )
        return replace(comparison, a=a.capture, b=b.capture)

    def compared_or_refused(self, part: bytes) -> SentComparison:
        """Compare one of several pairs, or return the reason why it cannot be compared."""
        try:
            return SentComparison(self.compared(decoded(part, SentPair)))
        except (FormError, QuestionError, PageNotFoundError) as error:
            return SentComparison(None, str(error))

    def _side(self, sent: SentSide, name: str) -> _Side:
        check_one_text(sent.text, sent.html, f" of {name}")
        for kind, content in (("html", sent.html), ("text", sent.text)):
            if content is not None:
                try:
                    return _Side(READERS[kind].text({kind: content}), sent.url)
                except ExtractError as error:
                    raise FormError(f"The HTML of {name} cannot be read: {error}") from None
        if sent.url is None:
            or_url = ", or the url of a page" if self.page else ""
            raise FormError(f"{name} has no text: send text or html{or_url}.")
        if self.page is None:
            raise FormError(f"This server has no store: send the text of {name}, as text or html.")
        page = self.page(sent.url)
        return _Side(page.text, page.url, page)


def answer_of_store(index: Index, request: ScreenRequest) -> ScreenAnswer:
    return _answer(index, request, _Comparer.of_index)


def answer_without_store(served: HasScheme, request: ScreenRequest) -> ScreenAnswer:
    return _answer(served, request, _Comparer.of_scheme)


def _answer(served: Served, request: ScreenRequest, comparer_of: Callable[[Served], _Comparer]) -> ScreenAnswer:
    body = sent_body(request.form)
    if request.form[CONTENT_TYPE] == NDJSON:
        return _batch(served, lines(body, PAIRS), comparer_of, as_lines=True)
    sent = decoded(body, _SentPairs)
    if is_given(sent.pairs):
        if sent.a is not None or sent.b is not None:
            raise FormError("Send one pair, or several as pairs, not both.")
        return _batch(served, members(sent.pairs, PAIRS), comparer_of, as_lines=False)
    if sent.a is None or sent.b is None:
        raise FormError('Send two texts: {"a": {"text": …}, "b": {"text": …}}, or several of these as "pairs".')
    comparer = comparer_of(served)
    return ScreenAnswer(SentComparisons(comparer.scheme.id, comparer.compared(SentPair(sent.a, sent.b))))


def _batch(
    served: Served, parts: list[bytes], comparer_of: Callable[[Served], _Comparer], *, as_lines: bool
) -> ScreenAnswer:
    def comparing(opened: Served) -> Callable[[bytes], SentComparison]:
        return comparer_of(opened).compared_or_refused

    return ScreenAnswer(Batch(parts, comparing, name=PAIRS, scheme=served.scheme.id, as_lines=as_lines))


def _screen(answering: Callable[[Served, ScreenRequest], ScreenAnswer]) -> Screen[Served]:
    return Screen(
        name="compare_texts",
        path="",
        api="/compare",
        summary="What two texts sent with the request share; nothing is kept",
        answer=answering,
        returns=SentComparisons,
        heavy=True,
        sends=SentPairs,
        sends_json=True,
    )


SCREEN = _screen(answer_of_store)
WITHOUT_STORE = _screen(answer_without_store)
