"""The texts that most pages share, such as licences and menus."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.stores.store import Store

MAX_TEXTS = 10
MAX_TOKENS_COUNTED = 400  # fingerprints whose pages are counted; a text has several
BATCH_SIZE = 20  # records in memory at a time
MAX_TEXT_CHARS = 400  # of a text, as returned
MIN_FREQUENCY_RATIO = 0.8  # a text extends as long as the next fingerprint is on about as many pages
SEARCHED_WORDS = 8  # of a phrase: enough to find its pages, few enough to read
MAX_WORD_CHARS = 30  # how far to look for the end of a word that is cut


@answer
class CommonText(Answer):
    """A text that is on several pages, as one of them has it."""

    text: str = key("The beginning of the text.")
    phrase: str = key("Its most common part.")
    characters: int = key("The length of the whole text.")
    pages: int = key("The number of pages that have the phrase.")
    id: str = key("The id of the page that it is from.")
    url: str = key("The URL of this page.")


class PageFingerprints(NamedTuple):
    """The fingerprints of a page, in the order of its text."""

    id: str
    fingerprints: array[int]
    positions: array[int]


def common_texts(store: Store, sample: Sequence[str]) -> list[CommonText]:
    """Return the most common texts that at least two pages of `sample` share.

    `sample` has page ids: a text on many pages is on several of them.
    """
    scheme = store.scheme
    pages = list(_fingerprints(store, sample))
    seen = Counter(token for page in pages for token in set(page.fingerprints))
    likely = array("Q", [token for token, times in seen.most_common(MAX_TOKENS_COUNTED) if times > 1])
    if not likely:
        return []
    (counted,) = store.frequencies([Lookup("fingerprints", likely)], over=1)
    texts: list[CommonText] = []
    canonical_texts: list[str] = []
    done: set[int] = set()
    for token in sorted(counted, key=lambda token: (-counted[token], token)):
        if token in done or len(texts) == MAX_TEXTS:
            continue
        page = next(page for page in pages if token in page.fingerprints)
        at = page.fingerprints.index(token)
        stretch = _stretch(page, at, seen)
        done.update(page.fingerprints[stretch])
        record = store.read([page.id], Record).get(page.id)
        if record is None or not record.text:
            continue
        text = canonical(record.text, scheme, name=record.url)
        start, end = page.positions[stretch][0], page.positions[stretch][-1] + scheme.k
        chars = text.chars[start:end]
        half = scheme.k // 2
        pieces = [chars[at : at + half] for at in range(0, len(chars) - half + 1, half)]
        if any(piece in other for other in canonical_texts for piece in pieces):
            continue  # overlaps a text that is listed already
        canonical_texts.append(chars)
        passage = _whole_words(record.text, *text.span(start, end))
        phrase = _whole_words(record.text, *text.span(page.positions[at], page.positions[at] + scheme.k))
        texts.append(CommonText(passage[:MAX_TEXT_CHARS], phrase, len(passage), counted[token], record.id, record.url))
    return texts


def _fingerprints(store: Store, ids: Sequence[str]) -> Iterator[PageFingerprints]:
    for batch in batches(ids, BATCH_SIZE):
        for record in store.read(batch, Record).values():
            yield PageFingerprints(record.id, record.hashes.fingerprints, record.hashes.positions)


def _stretch(page: PageFingerprints, at: int, seen: Counter[int]) -> slice:
    """Return the range of neighbouring fingerprints that are on about as many pages as the one at `at`."""
    frequency = seen[page.fingerprints[at]]
    least, most = MIN_FREQUENCY_RATIO * frequency, frequency / MIN_FREQUENCY_RATIO
    first = last = at
    while first and least <= seen[page.fingerprints[first - 1]] <= most:
        first -= 1
    while last + 1 < len(page.fingerprints) and least <= seen[page.fingerprints[last + 1]] <= most:
        last += 1
    return slice(first, last + 1)


def _whole_words(text: str, start: int, end: int) -> str:
    """Return a part of the text without the cut words at its ends."""
    if start and text[start - 1].isalnum():
        start += next((at for at, char in enumerate(text[start : start + MAX_WORD_CHARS]) if char.isspace()), -1) + 1
    if end < len(text) and text[end].isalnum():
        end -= next((at for at, char in enumerate(text[end - MAX_WORD_CHARS : end][::-1]) if char.isspace()), -1) + 1
    return text[start:end]


def phrase_query(phrase: str) -> str:
    """Return a search for the pages that contain a phrase."""
    words, _, _ = word_tokens(phrase)
    return f'"{" ".join(words[:SEARCHED_WORDS])}"'
