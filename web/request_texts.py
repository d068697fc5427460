"""The texts that a request names, captures by id or URL or pasted texts, and their comparison."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.page_finder import PASTED_URL, no_text
from opensearch_winnow.queries.asking.compared_pages import compare_pages
from opensearch_winnow.queries.compare import Comparer, Comparison
from opensearch_winnow.queries.relationship import same_in
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.web.pasted_texts import EXPIRY_MINUTES, ID_PREFIX, PastedText
from opensearch_winnow.web.screen import NotFoundError, SuggestedLink
from opensearch_winnow.web.screen_request import ScreenRequest


def pasted_text(request: ScreenRequest, id_: str) -> PastedText:
    """Return the pasted text with this id, or raise NotFoundError."""
    pasted = request.state.pasted.get(id_)
    if pasted is None:
        raise NotFoundError(
            f"This text has expired: pasted texts are kept for {EXPIRY_MINUTES} minutes after their last use,"
            " and only while winnow serve runs.",
            SuggestedLink("/paste", "Paste it again"),
        )
    return pasted


def text_named(index: Index, request: ScreenRequest, name: str, at: datetime | None = None) -> ComparedText:
    """Return the capture or the pasted text with this id, or the latest capture of this URL, up to the end of `at`."""
    if name.startswith(ID_PREFIX):
        pasted = pasted_text(request, name)
        return ComparedText(id=name, text=pasted.text, title=pasted.name or None)
    page = index.find(name.strip(), at)
    return ComparedText.of_page(page, page.title, no_text(page))


def compare_texts(index: Index, a: ComparedText, b: ComparedText, request: ScreenRequest) -> Compared:
    """Compare two texts as the parameters `finer`, `boilerplate` and `min_words` say."""
    if not (a.text and b.text):
        return _estimate(index, a, b)
    scheme = finer_scheme(index.scheme) if request["finer"] else index.scheme
    comparison = compare_pages(a, b, scheme, boilerplate=index.boilerplate() if request["boilerplate"] else ())
    return Compared.of(a, b, comparison, scheme, min_words=request["min_words"])


def finer_scheme(scheme: Scheme) -> Scheme:
    """Return a scheme that finds shorter passages than the store's: two texts are quick to compare in more detail."""
    closer = PRESETS["passages"]
    return replace(scheme, noise=min(scheme.noise, closer.noise), guarantee=min(scheme.guarantee, closer.guarantee))


def _estimate(index: Index, a: ComparedText, b: ComparedText) -> Compared:
    """Estimate the comparison from the sketches, where a text is not stored."""

    def record(side: ComparedText) -> Record:
        if side.url is not None:
            return index.capture(side.id)
        made = index.prepare(Page(PASTED_URL, text=side.text))
        assert isinstance(made, Record)  # as when it was pasted
        return made

    ours, theirs = record(a), record(b)
    same = ours.hashes.text_digest == theirs.hashes.text_digest != "" and ours.hashes.shingle_count > 0
    estimate = Comparer(index.scheme).estimate(Sketches.of(ours), Sketches.of(theirs))
    return Compared(
        a=a,
        b=b,
        scheme=index.scheme,
        comparison=Comparison(**estimate.scores._asdict(), passages=[], sameness=same_in(index.scheme) if same else ""),
        passages=[],
        kind="estimate",
        error=estimate.error("resemblance"),
    )
