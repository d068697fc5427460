"""The functions of the core that take what a store has kept, or arrays of hashes and pages; see core_targets.py."""

from __future__ import annotations

from array import array
from collections import Counter
from contextlib import suppress
from itertools import pairwise
from math import isclose

from opensearch_winnow.cython_core.best_scores import filter_pages, top_scores
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.cython_core.estimates import (
    min_resemblance,
    minhash_resemblance,
    minhash_resemblances,
    mod_containment,
    mod_resemblance,
)
from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from opensearch_winnow.cython_core.overlap import difference, matching_runs, overlap, pair_resemblances
from opensearch_winnow.cython_core.packed_positions import pack_positions, unpack_positions
from opensearch_winnow.cython_core.packed_postings import pack_postings, unpack_postings
from opensearch_winnow.cython_core.pair_representatives import PairRepresentatives
from opensearch_winnow.cython_core.pair_verdicts import pair_verdicts
from opensearch_winnow.cython_core.posting_parts import bundle_postings, put_rows, sort_postings, split_postings
from opensearch_winnow.cython_core.repeated_shingles import count_documents, repeated_runs, split_shingles, take_marks
from opensearch_winnow.cython_core.representatives import RepresentativeAssignment
from opensearch_winnow.cython_core.sketches import distinct, min_sketch, mod_sketch
from opensearch_winnow.cython_core.sorted_postings import (
    document_frequency_histogram,
    drop_pages,
    merge_postings,
    sorted_postings,
)
from opensearch_winnow.cython_core.token_pairs import TokenPairs, split_pairs
from opensearch_winnow.cython_core.word_index import word_index
from opensearch_winnow.cython_core.word_scores import Bm25, BooleanScorer
from opensearch_winnow.cython_core.word_segments import MergedSegments, document_frequencies, find_prefix, find_word
from opensearch_winnow.cython_core.word_tokens import word_tokens
from tests.cython_core import reference
from tests.fuzz.core_targets import REFUSED, SAMPLE
from tests.fuzz.input_reader import Reader

WEIGHT = Bm25(1.0, 4, 7, [2])
BITS = (1, 2, 4, 8, 16, 3)
BLOCK = word_index([0, 1, 4], ["a b", "", "Aa"], ["b c a b", "日本 a", "b a b " * 9])[0][0]


def fuzz_word_index(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    cut, pages = reader.byte(), []
    while reader.at < len(data):
        pages.append((reader.text(), reader.text()))
    titles, texts = [title for title, _ in pages], [text for _, text in pages]
    blocks, title_lengths, text_lengths = word_index(range(len(pages)), titles, texts)
    cut %= len(pages) + 1
    if compares:
        assert title_lengths.tolist() == [len(word_tokens(title)[0]) for title in titles]
        first = word_index(range(cut), titles[:cut], texts[:cut])[0]
        second = word_index(range(len(pages) - cut), titles[cut:], texts[cut:])[0]
        parts = [(0, [block[1:] for block in first]), (cut, [block[1:] for block in second])]
        assert list(MergedSegments(parts)) == blocks
        counts = [[Counter(word_tokens(field)[0]) for field in page] for page in pages]
        for word in {word for page in counts for field in page for word in field}:
            (found,) = [found for _, words, _ in blocks if (found := find_word(words, word))]
            frequencies = tuple(sum(page[field][word] > 0 for page in counts) for field in (0, 1))
            assert document_frequencies(found[0]) == frequencies
    assert len(text_lengths) == len(pages)


def fuzz_find_word(data: bytes, _: bool) -> None:
    reader = Reader(data)
    word = reader.text()
    words = reader.rest()
    with suppress(*REFUSED):
        found = find_word(words, word)
        if found:
            assert found[0] in words
            assert found[1] <= found[2]
    with suppress(*REFUSED):
        assert sum(map(len, find_prefix(words, word))) <= len(words)


def fuzz_document_frequencies(data: bytes, _: bool) -> None:
    reader = Reader(data)
    deleted = reader.take() if reader.byte() & 1 else None
    postings = reader.rest()
    with suppress(*REFUSED):
        in_titles, in_texts = document_frequencies(postings, deleted)
        assert max(in_titles, in_texts) <= len(postings)


def fuzz_merged_segments(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    deleted = bytes(reader.byte()) if reader.byte() & 1 else None
    segments: list[tuple[int, list[tuple[bytes, bytes]]]] = []
    while reader.at < len(data) and len(segments) < 4:
        shift = reader.size()
        segments.append((shift, [(reader.take(), reader.take()) for _ in range(1 + reader.byte() % 3)]))
    with suppress(*REFUSED):
        for first, words, positions in MergedSegments(segments, deleted):
            assert first
            assert words
            if compares:
                again = list(MergedSegments([(0, [(words, positions)])]))
                assert b"".join(block[2] for block in again) == positions


def fuzz_boolean_scorer(data: bytes, _: bool) -> None:
    reader = Reader(data)
    size = reader.byte() % 16
    scorer = BooleanScorer(bytes(range(size)), bytes(range(size)), bytes(size) if reader.byte() & 1 else None)
    while reader.at < len(data):
        step = reader.byte() % 6
        with suppress(*REFUSED):
            if step == 0:
                scorer.add_word(reader.take(), WEIGHT, WEIGHT)
            elif step == 1:
                scorer.add_prefix([reader.take(), reader.take()], 4.0, 1.0)
            elif step == 2:
                words = [(reader.take(), reader.take()) for _ in range(reader.byte() % 4)]
                scorer.add_phrase(words, list(reader.take()), WEIGHT, WEIGHT)
            elif step == 3:
                scorer.require()
            elif step == 4:
                scorer.exclude()
            else:
                scorer.add_scorer(scorer)
    pages, scores = scorer.hits(0)
    assert len(pages) == len(scores) <= size


def fuzz_minhashes(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    bits, size, counts = BITS[reader.byte() % 6], reader.size(), reader.numbers()
    pairs, known, threshold, clear = reader.hashes(), reader.hashes(), reader.byte() / 255, reader.byte() / 16
    minhashes = reader.rest()
    a, b = minhashes[: len(minhashes) // 2], minhashes[len(minhashes) // 2 :][: len(minhashes) // 2]
    with suppress(*REFUSED):
        estimate = minhash_resemblance(a, b, bits)
        assert minhash_resemblances(a, b, bits).tolist() == ([estimate.value] if a else [])
        if compares:
            assert all(map(isclose, estimate, reference.minhash_resemblance(a, b, bits)))
    with suppress(*REFUSED):
        found = pair_verdicts(pairs, minhashes, counts, size, threshold=threshold, bits=bits, clear=clear)
        assert {len(part) for part in found} == {len(pairs)}
    with suppress(*REFUSED):
        assignment = RepresentativeAssignment(
            minhashes, counts, reader.byte() % (len(counts) + 1), threshold=threshold, bits=bits, clear=clear
        )
        known = distinct(known)
        assignment.decide(known, array("d", [0.5] * len(known)), 1 + reader.byte())
        assert len(assignment.representatives) == len(counts)


def fuzz_hash_sets(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    size, bits, rows = reader.size(), BITS[reader.byte() % 6], reader.size()
    one, other, starts, counts = reader.hashes(), reader.hashes(), reader.hashes(), reader.numbers()
    a, b = distinct(one), distinct(other)
    shared, only, runs = overlap(a, b), difference(a, b), matching_runs(one, b)
    with suppress(*REFUSED):
        pair_resemblances(other, a, starts, counts)
    with suppress(*REFUSED):
        minima = minhash(one, size if abs(size) < 300 or size < 0 else 64)
        pack(minima, bits)
        bands(minima, size, rows)
    for estimate in (mod_resemblance, mod_containment):
        with suppress(*REFUSED):
            found = estimate(a, b, size)
            if compares:
                assert all(map(isclose, found, getattr(reference, estimate.__name__)(a, b, size)))
    with suppress(*REFUSED):
        assert len(mod_sketch(one, size)) <= len(a)
        smallest = min_sketch(one, size), min_sketch(other, size)
        min_resemblance(*smallest, size)
        assert smallest[0].tolist() == a.tolist()[:size]
    if compares:
        assert a.tolist() == reference.distinct(one)
        assert (shared, only.tolist()) == (reference.overlap(a, b), reference.difference(a, b))
        assert runs == reference.matching_runs(one.tolist(), b)


def fuzz_packed(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    tokens, pages, block_bytes, slot_bits = reader.hashes(), reader.numbers(), reader.size(), reader.size()
    assert unpack_positions(pack_positions(pages)) == pages
    with suppress(*REFUSED):
        blocks = pack_postings(tokens, pages, block_bytes, slot_bits)
        unpacked = [unpack_postings(block, first >> slot_bits << slot_bits) for first, block in blocks]
        assert b"".join(bytes(some) for some, _ in unpacked) == bytes(tokens)
        assert b"".join(bytes(some) for _, some in unpacked) == bytes(pages)
        if compares:
            postings = list(zip(tokens, pages, strict=True))
            assert blocks == reference.pack_postings(postings, block_bytes, slot_bits)
    lowest, block = reader.key(), reader.rest()
    with suppress(*REFUSED):
        assert len(unpack_positions(block)) <= len(block)
    with suppress(*REFUSED):
        found = list(zip(*unpack_postings(block, lowest), strict=True))
        assert found == sorted(set(found))


def fuzz_postings(data: bytes, _: bool) -> None:
    reader = Reader(data)
    tokens, pages, counts, dropped = reader.hashes(), reader.numbers(), reader.numbers(), reader.numbers()
    more_tokens, more_pages = reader.hashes(), reader.numbers()
    selected, wanted = reader.numbers(), reader.size()
    with suppress(*REFUSED):
        sorted_tokens, sorted_pages = sorted_postings(tokens, counts, pages)
        assert sorted_tokens.tolist() == sorted(sorted_tokens)
        assert {*sorted_tokens} == {*tokens}
        assert len(sorted_pages) == len(sorted_tokens) <= len(tokens)
    with suppress(*REFUSED):
        numbers, sizes = split_postings(tokens, pages, wanted)
        assert sum(sizes) == len(tokens)
        assert list(zip(*sort_postings(numbers), strict=True)) == sorted(zip(tokens, pages, strict=True))
        assert len(bundle_postings(*sort_postings(numbers))[0]) <= len(tokens)
    with suppress(*REFUSED):
        put_rows(bytearray(reader.size() % 1_000), pages, bytes(tokens), 8)
    with suppress(*REFUSED):
        merged = merge_postings(tokens, pages, more_tokens, more_pages)
        assert len(merged[0]) == len(merged[1])
    with suppress(*REFUSED):
        left = drop_pages(tokens, pages, dropped)
        assert len(left[0]) == len(left[1]) <= len(tokens)
    document_frequency_histogram(tokens)
    scores = array("f", map(float, pages))
    with suppress(*REFUSED):
        assert len(top_scores(pages, scores, wanted)[0]) <= len(pages)
    for exclude in (False, True):
        with suppress(*REFUSED):
            assert len(filter_pages(pages, scores, selected, exclude=exclude)[0]) <= len(pages)


def fuzz_repeated(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    parts, width, documents, every = reader.size(), reader.size(), reader.size(), bool(reader.byte() & 1)
    tokens, ends, marks, places = reader.hashes(), reader.numbers(), reader.numbers(), reader.numbers()
    with suppress(*REFUSED):
        block, sizes = split_shingles(tokens, ends, parts)
        assert sum(sizes) == len(block) <= len(tokens)
        if compares and parts <= 256:
            divided = [tokens[start:end] for start, end in pairwise((0, *ends))]
            assert (list(block), list(sizes)) == reference.split_shingles(divided, parts)
    with suppress(*REFUSED):
        assert len(take_marks(tokens, width, tokens, marks, places)) == len(tokens)
    found = count_documents(tokens)
    for each in (found, marks):
        with suppress(*REFUSED):
            runs = repeated_runs(each, width, documents, every)
            if compares and width <= 256:
                assert runs == reference.repeated_runs(each, width, documents, every)


def fuzz_pairs(data: bytes, compares: bool) -> None:
    reader = Reader(data)
    count, partners, parts = reader.byte(), reader.size(), reader.size()
    left, right, pairs = reader.numbers(), reader.numbers(), reader.hashes()
    groups = UnionFind(count)
    with suppress(*REFUSED):
        groups.join_all(left, right)
        if compares:
            assert groups.labels().tolist() == reference.labels(count, zip(left, right, strict=True))
    groups.labels()
    with suppress(*REFUSED):
        representatives = PairRepresentatives(count)
        representatives.add(pairs)
        if compares:
            split = [(pair >> 32, pair & 0xFFFFFFFF) for pair in pairs]
            assert representatives.representatives.tolist() == reference.pair_representatives(count, split)
    with suppress(*REFUSED):
        split_pairs(pairs, parts, partners)
    with suppress(*REFUSED):
        maker = TokenPairs(partners)
        changed = reader.take() if reader.byte() & 1 else None
        while reader.at < len(data):
            maker.add(reader.hashes(), reader.numbers(), changed)


def part(data: bytes) -> bytes:
    return bytes([len(data)]) + data


SAMPLE_PARTS = part(SAMPLE.encode("utf-8", "ignore")[:100])
FOUND = find_word(BLOCK[1], "b")
assert FOUND is not None
POSTINGS, POSITIONS = FOUND[0], BLOCK[2][FOUND[1] : FOUND[2]]
SETS = b"\x00\x05\x01\x02\x03\x05\x09\x00\x03\x02\x05\x07"
SEGMENT = part(BLOCK[1]) + part(BLOCK[2])
SCORED = (
    b"\x05\x01\x00" + part(POSTINGS) + b"\x01" + part(POSTINGS) + part(POSTINGS) + b"\x03",
    b"\x05\x00\x02\x01" + part(POSTINGS) + part(POSITIONS) + part(b"\x00\x00") + b"\x03\x05\x04",
)
MINHASHES = b"\x02\x04\x00\x03\x09\x09\x30\x01" + part(b"\x01" + bytes(7)) + b"\x00\x00\x80\x20" + bytes(12)
PACKED = b"\x00\x03\x05\x05\x15\x00\x03\x01\x09\x02\x20\x04\x00\x20\x05\x01\x08\x18\x10\x00\x02\x01\x07"
TARGETS = {
    "word_index": (fuzz_word_index, [b"\x01\x03\x03a b\x01" + SAMPLE_PARTS + b"\x03\x00\x01" + SAMPLE_PARTS]),
    "find_word": (fuzz_find_word, [b"\x03\x01b" + BLOCK[1]]),
    "document_frequencies": (fuzz_document_frequencies, [b"\x01\x05\x00\x01\x00\x00\x00" + POSTINGS]),
    "merged_segments": (fuzz_merged_segments, [b"\x01\x0f\x00\x00" + SEGMENT + b"\x05\x00" + SEGMENT]),
    "boolean_scorer": (fuzz_boolean_scorer, SCORED),
    "minhashes": (fuzz_minhashes, [MINHASHES]),
    "hash_sets": (fuzz_hash_sets, [b"\x04\x02\x02" + SETS + b"\x00\x02\x00\x01\x00\x02\x01\x01"]),
    "packed": (fuzz_packed, [PACKED]),
    "postings": (fuzz_postings, [SETS + b"\x00\x02\x02\x01" + SETS + SETS + b"\x03"]),
    "repeated": (fuzz_repeated, [b"\2\3\2\0\0\5abcab\0\2\2\5\0\5\4\5\6\5\4\0\2\0\3"]),
    "pairs": (fuzz_pairs, [b"\x09\x02\x03" + SETS + part(b"") * 2 + SETS + SETS]),
}
