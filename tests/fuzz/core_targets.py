"""The functions of the core that take text, bytes or arrays, each called with arguments read from fuzzed bytes.

A target calls the compiled code, and if `compares` also the plain Python of the same name, which takes a hundred times
as long. A ValueError, an OverflowError and a MemoryError are right answers to wrong arguments. Any other exception, a
result that differs and a crash are bugs.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise
from typing import TypeVar

from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.fingerprints import SELECTIONS, fingerprints
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.minhash import minhash, pack
from opensearch_winnow.cython_core.passages import join_runs, passages
from opensearch_winnow.cython_core.phrase_offsets import phrase_offsets
from opensearch_winnow.cython_core.rare_grams import rare_grams
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct
from opensearch_winnow.cython_core.symbols import symbol_places, symbols_hash
from opensearch_winnow.cython_core.text_sketches import TextSketches
from opensearch_winnow.cython_core.vectors import use_vectors
from opensearch_winnow.cython_core.visible_text import NAMES, VisibleText
from opensearch_winnow.cython_core.window_minima import window_minima
from opensearch_winnow.cython_core.word_runs import WordRuns
from opensearch_winnow.cython_core.word_tokens import word_tokens
from tests.cython_core import reference, reference_visible_text
from tests.fuzz.input_reader import Reader
from tools.unicode_tables import looks

REFUSED = (ValueError, OverflowError, MemoryError)
TAGS = sorted({*" ".join(NAMES.values()).split(), "b", "span", "my-card", "a-name-that-is-longer-than-sixteen"})
# A few characters of every kind that the core treats in its own way.
SAMPLE = "Ab z9, e\u0301\u0345\xa0ß\xad½ﬁΣςИ日ひカーกี한א\u1100\u1161か\u3099\u200d\ufe0f\u20e3😀👍🏽🇩🇪\ud800\x00_'."

T = TypeVar("T", VisibleText, reference_visible_text.VisibleText)


def fuzz_canonical_text(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    choices = reader.byte()
    consonants, fold_confusables = bool(choices & 1), bool(choices & 2)
    text = reader.rest_text()
    canonical = canonical_text(text, consonants=consonants, fold_confusables=fold_confusables)
    size = len(canonical.chars)
    assert len(canonical.offsets) == size
    start, end = canonical.span(size // 3, size)
    assert 0 <= start <= end <= len(text)
    if compares:
        found = canonical.chars, list(canonical.words), list(canonical.offsets)
        assert found == reference.canonical_text(text, consonants, looks() if fold_confusables else None)
        use_vectors(False)
        portable = canonical_text(text, consonants=consonants, fold_confusables=fold_confusables)
        use_vectors(True)
        assert (portable.chars, list(portable.words), list(portable.offsets)) == found


def fuzz_from_parts(data: bytes, _: bool) -> None:
    reader = Reader(data)
    text, chars = reader.text(), reader.text()
    words, offsets, ends = reader.numbers(), reader.numbers(), reader.numbers()
    with suppress(*REFUSED):
        canonical = CanonicalText.from_parts(text, chars, words, offsets, ends)
        canonical.span(0, len(chars))
        found = shingles(canonical, reader.size(), reader.key())
        assert len(found) <= len(words)


def fuzz_shingles(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    width, key = reader.size(), reader.key()
    canonical = canonical_text(reader.rest_text())
    with suppress(*REFUSED):
        found = shingles(canonical, width, key)
        if compares:
            bounds = [*canonical.words, len(canonical.chars)]
            words = [canonical.chars[start:end] for start, end in pairwise(bounds)]
            assert found.tolist() == reference.shingles(words, width, key)
        made = TextSketches([canonical] * 2, width=width, key=key, modulus=3, bins=64, bits=4, bands=4, rows=4)
        assert made.shingles == distinct(found) * 2
        assert made.minhash == pack(minhash(found, 64)) * 2


def fuzz_word_runs(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    width, shortest = reader.size(), reader.size()
    texts = [canonical_text(each) for each in (reader.text(), reader.text(), reader.rest_text())]
    with suppress(*REFUSED):
        found = WordRuns(texts[:2], width, shortest).find(texts[2])
        if compares:
            bounds = [[*each.words, len(each.chars)] for each in texts]
            words = [
                [each.chars[start:end] for start, end in pairwise(bound)]
                for each, bound in zip(texts, bounds, strict=True)
            ]
            assert found == reference.word_runs(words[:2], words[2], width, shortest)


def fuzz_symbols(data: bytes, compares: bool) -> None:
    text = Reader(data).rest_text()
    places = symbol_places(text)
    assert (symbols_hash(text) == 0) == (not places)
    if compares:
        found = [text[start:end].translate(reference.FULL_WIDTH) for start, end in places]
        assert found == reference.symbols(text)


def fuzz_fingerprints(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    k, w, key, how = reader.size(), reader.size(), reader.key(), reader.byte()
    selection, robust = SELECTIONS[how % len(SELECTIONS)], how < 128
    chars = reader.rest_text()
    with suppress(*REFUSED):
        hashes, positions = fingerprints(chars, k, w, selection, key, robust=robust)
        grams = kgram_hashes(chars, k, key)
        assert len(hashes) == len(positions) <= len(grams)
        assert all(grams[position] == hash_ for hash_, position in zip(hashes, positions, strict=True))
        if compares:
            expected = reference.fingerprints(chars, k, w, selection, key, robust)
            assert list(zip(hashes, positions, strict=True)) == expected


def fuzz_rare_grams(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    k, size, key, chars = reader.size(), reader.size(), reader.key(), reader.rest_text()
    with suppress(*REFUSED):
        hashes, positions = rare_grams(chars, k, size, key)
        assert len(set(hashes)) <= len(hashes) == len(positions) <= size
        if compares:
            assert list(zip(hashes, positions, strict=True)) == reference.rare_grams(chars, k, size, key)


def fuzz_window_minima(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    w, robust, hashes = reader.size(), bool(reader.byte() & 1), reader.hashes()
    with suppress(*REFUSED):
        found = window_minima(hashes, w, robust=robust)
        assert list(found) == sorted(set(found))
        if compares:
            assert list(found) == reference.window_minima(hashes.tolist(), w, robust)


def fuzz_passages(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    k, w, key, gap = reader.size(), reader.size(), reader.key(), reader.size()
    a, b = reader.text(), reader.rest_text()
    with suppress(*REFUSED):
        found = passages(a, b, k, w, key)
        for start, end, other_start, other_end in found:
            assert a[start:end] == b[other_start:other_end]
        joined = join_runs(found, gap)
        assert len(joined) <= len(found)
        if compares:
            assert found == sorted(set(found))
            assert {*found} <= {*reference.shared_runs(a, b, k)}


def fuzz_word_tokens(data: bytes, compares: bool) -> None:
    text = Reader(data).rest_text()
    words, starts, ends = word_tokens(text)
    assert len(words) == len(starts) == len(ends)
    if compares:
        places = [place for pair in zip(starts, ends, strict=True) for place in pair]
        assert places == sorted(places)
        assert all(start < end <= len(text) for start, end in zip(starts, ends, strict=True))
        assert all(word and len(word) <= 4 * 255 for word in words)
        assert word_tokens(text + "\U000fffff")[0] == words


def fuzz_phrase_offsets(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    limit = reader.byte() % 8
    phrases = [(tuple(word_tokens(reader.text())[0]), bool(reader.byte() & 1)) for _ in range(reader.byte() % 4)]
    text = reader.rest_text()
    found = phrase_offsets(text, phrases, max_per_phrase=limit)
    assert all(start < end <= len(text) for start, end, _ in found)
    if compares:
        assert found == offsets_of_phrases(text, phrases, limit)


def offsets_of_phrases(
    text: str, phrases: list[tuple[tuple[str, ...], bool]], limit: int
) -> list[tuple[int, int, int]]:
    """Return what phrase_offsets() returns, from the words of the text."""
    words, starts, ends = word_tokens(text)
    offsets = []
    for index, (phrase, is_prefix) in enumerate(phrases):
        length = len(phrase)
        found = [
            (starts[at], ends[at + length - 1], index)
            for at in range(len(words) - length + 1 if length else 0)
            if tuple(words[at : at + length - 1]) == phrase[:-1]
            and (words[at + length - 1] == phrase[-1] or (is_prefix and words[at + length - 1].startswith(phrase[-1])))
        ]
        offsets += found[:limit]
    return sorted(offsets, key=lambda place: (place[0], place[2]))


def fuzz_visible_text(data: bytes, compares: bool) -> None:
    alt = bool(data[:1] and data[0] & 1)
    found = fed(VisibleText(alt=alt), data)
    if compares:
        assert found == fed(reference_visible_text.VisibleText(alt=alt), data)


def fed(page: T, data: bytes) -> tuple[str, str, str, str, str]:
    """Feed `page` with the events that `data` stands for: start tags, end tags, and text."""
    reader = Reader(data[1:])
    while reader.at < len(reader.data):
        event = reader.byte()
        if event < 80:
            page.start(TAGS[reader.byte() % len(TAGS)], {})
        elif event < 100:
            tag, text = TAGS[reader.byte() % len(TAGS)], reader.text()
            types = {"type": "image" * (event & 1), "rel": "canonical" * (event >> 1 & 1)}
            page.start(tag, {"alt": text, "href": text, **types})
        elif event < 170:
            page.end(TAGS[reader.byte() % len(TAGS)])
        else:
            page.data(reader.text())
    return page.close()


def seeds_of_text(prefix: bytes = b"") -> list[bytes]:
    """Return inputs whose first bytes are `prefix`, and which end with text of every width."""
    narrow = SAMPLE.encode("latin-1", "ignore")
    return [
        prefix + b"\x00" + narrow,
        prefix + b"\x03plain words, and Words again: plain words",
        prefix + b"\x01" + SAMPLE.encode("utf-8", "ignore"),
        prefix + b"\x02" + SAMPLE.encode("utf-16-le", "surrogatepass"),
    ]


TARGETS = {
    "canonical_text": (fuzz_canonical_text, seeds_of_text(b"\x00")),
    "word_tokens": (fuzz_word_tokens, seeds_of_text()),
    "fingerprints": (fuzz_fingerprints, [s for how in range(4) for s in seeds_of_text(bytes([3, 4, 0, how]))]),
    "shingles": (fuzz_shingles, seeds_of_text(b"\x02\x00")),
    "word_runs": (fuzz_word_runs, seeds_of_text(b"\x02\x01\x03\x14plain words, and Mor\x03\x05words")),
    "symbols": (fuzz_symbols, [*seeds_of_text(), b"\x03x + 1.5 != -5 % of $ 7, C++ and\n* 2"]),
    "passages": (fuzz_passages, seeds_of_text(b"\x03\x04\x00\x02\x03\x14plain words, and Mor")),
    "phrase_offsets": (fuzz_phrase_offsets, seeds_of_text(b"\x03\x02\x03\x0bplain words\x00\x03\x02wo\x01")),
    "visible_text": (fuzz_visible_text, [b"\x01" + bytes([9, 40, 200, 3, 4]) + b"text" + bytes([120, 40])]),
    "from_parts": (fuzz_from_parts, [b"\x03\x03a b\x03\x02ab" + bytes([0, 2, 0, 1, 0, 2, 0, 2, 0, 2, 1, 3, 2])]),
    "rare_grams": (fuzz_rare_grams, [b"\x03\x02\x00\x00abcabdabcabe"]),
    "window_minima": (fuzz_window_minima, [b"\x03\x01\x00\x08\x05\x04\x03\x09\x01\x01\x02\x07"]),
}
