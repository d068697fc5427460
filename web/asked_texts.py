"""The texts that a request is about: captures of the store, and texts that were pasted."""

from __future__ import annotations

from dataclasses import replace

from opensearch_winnow.answers.compared import Compared, ComparedText
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.page_finder import PageFinder
from opensearch_winnow.queries.compare import Comparison, compare
from opensearch_winnow.queries.estimated import Sketched, estimated
from opensearch_winnow.queries.numbered_passages import numbered_passages
from opensearch_winnow.web.asked import Asked
from opensearch_winnow.web.pasted_texts import MINUTES, PREFIX, PastedText
from opensearch_winnow.web.screen import NotFoundError, Offer


def pasted_text(asked: Asked, name: str) -> PastedText:
    """The one of this id."""
    pasted = asked.kept.pasted.get(name)
    if pasted is None:
        raise NotFoundError(
            f"This text is no longer here: what is pasted is kept for {MINUTES} minutes after it was last looked at,"
            " and no longer than winnow serve runs.",
            Offer("/paste", "Paste it again"),
        )
    return pasted


def asked_text(index: Index, asked: Asked, name: str) -> ComparedText:
    """The capture of this id, or the text that was pasted."""
    if name.startswith(PREFIX):
        pasted = pasted_text(asked, name)
        return ComparedText(id=name, text=pasted.text, title=pasted.name or None)
    page = index.capture(name)
    return ComparedText(
        id=name, text=page.text, url=page.url, title=page.title, site=page.site, fetched_at=page.fetched_at
    )


def compared_texts(index: Index, a: ComparedText, b: ComparedText, asked: Asked) -> Compared:
    """As the parameters of the comparison say."""
    scheme = finer(index.scheme) if asked["finer"] == "on" else index.scheme
    if not (a.text and b.text):
        return _estimated(index, a, b)
    comparison = compare(
        a.text,
        b.text,
        scheme,
        names=(a.url, b.url),
        boilerplate=index.boilerplate() if asked["boilerplate"] == "on" else (),
        sites=(a.site, b.site),
    )
    passages = numbered_passages(a.text, comparison.passages)
    return Compared.of(a, b, comparison, passages, scheme, min_words=asked["min"])


def finer(scheme: Scheme) -> Scheme:
    """That finds shorter passages than a store can be asked for: two texts can be looked at more closely."""
    closer = PRESETS["passages"]
    return replace(scheme, noise=min(scheme.noise, closer.noise), guarantee=min(scheme.guarantee, closer.guarantee))


def _estimated(index: Index, a: ComparedText, b: ComparedText) -> Compared:
    """Where a text is not stored, what is stored beside it says how alike they are."""

    def sketched(side: ComparedText) -> Sketched:
        record: Record = (
            PageFinder(index.store).text_record(side.text, None) if side.url is None else index.capture(side.id)
        )
        return Sketched(record.shingle_count, record.sketch, record.minhash)

    found = estimated(sketched(a), sketched(b), index.scheme)
    return Compared(
        a=a,
        b=b,
        scheme=index.scheme,
        comparison=Comparison(**found.scores._asdict(), passages=[]),
        kind="estimate",
        error=found.error("resemblance"),
    )
