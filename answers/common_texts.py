"""The texts that are on the most pages: licences, menus, and what everybody copies."""

from __future__ import annotations

from array import array
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypedDict

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.lookups import Lookup
from opensearch_winnow.stores.store import Store

MOST = 10  # texts
TOKENS = 400  # whose pages are counted: several are in each text
BATCH = 20  # records in memory at a time
SHOWN = 400  # characters of a text
# A text goes on as long as its next fingerprint is on about as many pages.
NEARLY = 0.8
WORD = 30  # characters; a longer one is cut


class CommonTextDocument(TypedDict):
    """A text as one page has it, its beginning if it is long. `phrase` is the most common part of it, which is on so
    many `pages`."""

    text: str
    phrase: str
    characters: int
    pages: int
    id: str
    url: str


class Hashed(NamedTuple):
    """The fingerprints of a page, in the order of its text."""

    id: str
    fingerprints: array[int]
    positions: array[int]


def common_texts(index: Index, sample: Sequence[str]) -> list[CommonTextDocument]:
    """The most common of those that at least two pages of the sample have, by id: what is on many pages is there."""
    store = index.store
    pages = list(_hashed(store, sample))
    seen = Counter(token for page in pages for token in set(page.fingerprints))
    likely = array("Q", [token for token, times in seen.most_common(TOKENS) if times > 1])
    if not likely:
        return []
    (counted,) = store.frequencies([Lookup("fingerprints", likely)], over=1)
    found: list[CommonTextDocument] = []
    told: list[str] = []  # canonical
    done: set[int] = set()
    for token in sorted(counted, key=lambda token: (-counted[token], token)):
        if token in done or len(found) == MOST:
            continue
        page = next(page for page in pages if token in page.fingerprints)
        at = page.fingerprints.index(token)
        stretch = _stretch(page, at, seen)
        done.update(page.fingerprints[stretch])
        record = store.read([page.id], Record).get(page.id)
        if record is None or not record.text:
            continue
        text = canonical(record.text, index.scheme, name=record.url)
        start, end = page.positions[stretch][0], page.positions[stretch][-1] + index.scheme.k
        chars = text.chars[start:end]
        half = index.scheme.k // 2
        pieces = [chars[at : at + half] for at in range(0, len(chars) - half + 1, half)]
        if any(piece in other for other in told for piece in pieces):
            continue  # a part of it, and what some pages have beside it
        told.append(chars)
        passage = _whole_words(record.text, *text.span(start, end))
        found.append(
            {
                "text": passage[:SHOWN],
                "phrase": _whole_words(
                    record.text, *text.span(page.positions[at], page.positions[at] + index.scheme.k)
                ),
                "characters": len(passage),
                "pages": counted[token],
                "id": record.id,
                "url": record.url,
            }
        )
    return found


def _hashed(store: Store, ids: Sequence[str]) -> Iterator[Hashed]:
    for start in range(0, len(ids), BATCH):
        for record in store.read(ids[start : start + BATCH], Record).values():
            yield Hashed(record.id, record.fingerprints, record.positions)


def _stretch(page: Hashed, at: int, seen: Counter[int]) -> slice:
    """The fingerprints around one that are on about as many pages."""
    least, most = NEARLY * seen[page.fingerprints[at]], seen[page.fingerprints[at]] / NEARLY
    first = last = at
    while first and least <= seen[page.fingerprints[first - 1]] <= most:
        first -= 1
    while last + 1 < len(page.fingerprints) and least <= seen[page.fingerprints[last + 1]] <= most:
        last += 1
    return slice(first, last + 1)


def _whole_words(text: str, start: int, end: int) -> str:
    """That part of the text, without the part of a word at each end."""
    if start and text[start - 1].isalnum():
        start += next((at for at, char in enumerate(text[start : start + WORD]) if char.isspace()), -1) + 1
    if end < len(text) and text[end].isalnum():
        end -= next((at for at, char in enumerate(text[end - WORD : end][::-1]) if char.isspace()), -1) + 1
    return text[start:end]
