"""A call of every function and class of the core, on inputs large enough that each buffer grows and the GIL is let go.

Each call returns what can be compared: arrays, not lists of integers, so that most allocations are the core's own.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable
from functools import partial
from random import Random

from opensearch_winnow.cython_core import best_scores, estimates, overlap, sketches, sorted_postings, word_segments
from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.cython_core.fingerprints import SELECTIONS, fingerprints
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.minhash import bands, minhash, pack
from opensearch_winnow.cython_core.packed_positions import pack_positions, unpack_positions
from opensearch_winnow.cython_core.packed_postings import pack_postings, unpack_postings
from opensearch_winnow.cython_core.pair_representatives import PairRepresentatives
from opensearch_winnow.cython_core.pair_verdicts import pair_verdicts
from opensearch_winnow.cython_core.passages import join_runs, passages
from opensearch_winnow.cython_core.phrase_offsets import phrase_offsets
from opensearch_winnow.cython_core.posting_parts import bundle_postings, put_rows, sort_postings, split_postings
from opensearch_winnow.cython_core.rare_grams import rare_grams
from opensearch_winnow.cython_core.repeated_shingles import count_documents, repeated_runs, split_shingles, take_marks
from opensearch_winnow.cython_core.representatives import RepresentativeAssignment
from opensearch_winnow.cython_core.shared_tokens import SharedTokens
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.symbols import symbol_places, symbols_hash
from opensearch_winnow.cython_core.text_sketches import TextSketches
from opensearch_winnow.cython_core.token_pairs import TokenPairs, split_pairs
from opensearch_winnow.cython_core.visible_text import VisibleText
from opensearch_winnow.cython_core.window_minima import window_minima
from opensearch_winnow.cython_core.word_index import word_index
from opensearch_winnow.cython_core.word_runs import WordRuns
from opensearch_winnow.cython_core.word_scores import Bm25, BooleanScorer, encode_length
from opensearch_winnow.cython_core.word_segments import MergedSegments
from opensearch_winnow.cython_core.word_tokens import word_tokens

_RANDOM = Random(8)
_WORDS = [f"w{_RANDOM.randrange(10 ** _RANDOM.randrange(1, 5))}" for _ in range(1_500)]
ASCII = " ".join(_WORDS)
WIDE = ASCII[:3_000].replace("w1", "é") + "日本\u0301😀" * 20 + ASCII[3_000:]
LATIN = ASCII.replace("w2", "ü")
CANONICAL = canonical_text(WIDE)
ENDS = array("I", [offset + 1 for offset in CANONICAL.offsets])
HASHES = shingles(CANONICAL, 3)
SHORT_HASHES = array("Q", [each >> 3 for each in HASHES])
ONES = array("I", [1] * len(HASHES))
MINIMA = minhash(HASHES)
SORTED = sketches.distinct(HASHES)
OTHER = sketches.distinct(HASHES[: len(HASHES) // 2])
PAGES = array("I", range(len(HASHES)))
SCORES = array("f", [_RANDOM.random() for _ in HASHES])
MINHASHES = b"".join(pack(minhash(HASHES[start : start + 200], 256)) for start in range(0, 1_200, 30))
COUNTS = array("I", [200] * 40)
PAIRS = array("Q", [a << 32 | b for a in range(40) for b in range(a + 1, 40)])
TITLES, TEXTS = [" ".join(_WORDS[i : i + 3]) for i in range(12)], [" ".join(_WORDS[100 * i :][:200]) for i in range(12)]
TOKENS = array("Q", [1] * 500 + [2] * 500)
BLOCKS = word_index(range(12), TITLES, TEXTS)[0]
SEGMENT = [(words, positions) for _, words, positions in BLOCKS]
LENGTHS = bytes(encode_length(200) for _ in TEXTS)
WEIGHT = Bm25(1.0, 12, 2_400, [2])

SKETCHED = {"width": 4, "key": 0, "modulus": 5, "bins": 256, "bits": 4, "bands": 16, "rows": 4}
NONE_DELETED = bytes(len(TEXTS))
PREFIXED = [postings for words, _ in SEGMENT for postings in word_segments.find_prefix(words, "w3")]


def _found(word: str) -> tuple[bytes, bytes]:
    """Return the postings and the positions of a word in SEGMENT."""
    ((found, positions),) = [
        (found, positions) for words, positions in SEGMENT if (found := word_segments.find_word(words, word))
    ]
    return found[0], positions[found[1] : found[2]]


PHRASE = [_found("w1"), _found("w2")]


def _events() -> tuple[str, str, str, str, str]:
    page = VisibleText(alt=True)
    for tag in ("title", "p", "noframes", "pre", "svg", "td"):
        page.start(tag, {})
        page.data(WIDE)
        page.end(tag)
    page.start("img", {"alt": LATIN})
    page.start("link", {"rel": "Canonical", "href": LATIN})
    page.start("base", {"href": LATIN})
    return page.close()


def _scores() -> object:
    scorer = BooleanScorer(LENGTHS, LENGTHS, NONE_DELETED)
    scorer.add_word(PHRASE[0][0], WEIGHT, WEIGHT)
    scorer.add_prefix(PREFIXED, 2.0, 1.0)
    scorer.add_phrase(PHRASE, (0, 1), WEIGHT, WEIGHT)
    scorer.require()
    outer = BooleanScorer(LENGTHS, LENGTHS)
    outer.add_scorer(scorer)
    outer.require()
    outer.exclude()
    return outer.hits(3)


def _representatives() -> object:
    assignment = RepresentativeAssignment(MINHASHES, COUNTS, 2, threshold=0.3, clear=3.0)
    waiting = assignment.decide(array("Q"), array("d"), 50)
    more = assignment.decide(waiting, array("d", [0.5] * len(waiting)), 50)
    return waiting, more, assignment.representatives


def _groups() -> array[int]:
    groups = UnionFind(5_000)
    groups.join_all(PAGES[:1_000], PAGES[500:1_500])
    return groups.labels()


def _pair_representatives() -> array[int]:
    representatives = PairRepresentatives(40)
    representatives.add(PAIRS)
    return representatives.representatives


def _token_pairs() -> object:
    pairs = TokenPairs(50).add(TOKENS, array("I", bytes(PAGES[:500]) * 2), bytes([1]) * 500)
    return pairs, split_pairs(pairs, 7, 500)


def _shared_tokens() -> object:
    shared = SharedTokens(TOKENS, array("I", [100] * 10))
    return [(shared.after(number), shared.weight(number)) for number in range(10)]


def _posting_parts() -> object:
    postings, counts = split_postings(TOKENS, PAGES[:1000], 3)
    placed = bytearray(40 * 128)
    put_rows(placed, PAGES[:40], MINHASHES, 128)
    return counts, sort_postings(postings), bundle_postings(*sort_postings(postings)), placed


def _repeated_shingles() -> object:
    block, sizes = split_shingles(HASHES + HASHES, array("I", [len(HASHES), 2 * len(HASHES)]), 1)
    marks = count_documents(block)
    taken = take_marks(HASHES, 3, block, marks, array("I", [0]))
    return sizes, taken, repeated_runs(marks, 3, 2, False), repeated_runs(taken, 3, 2, True)


def _text_sketches() -> object:
    made = TextSketches([CANONICAL, canonical_text(ASCII)], **SKETCHED)
    return made.shingle_counts, made.shingles, made.sketch_counts, made.sketch, made.minhash, made.bands


def _from_parts() -> array[int]:
    made = CanonicalText.from_parts(WIDE, CANONICAL.chars, CANONICAL.words, CANONICAL.offsets, ENDS)
    return shingles(made, 5, 7)


def _canonical(text: str, consonants: bool = False, fold_confusables: bool = False) -> tuple[object, ...]:
    made = canonical_text(text, consonants=consonants, fold_confusables=fold_confusables)
    return made.chars, made.words, made.offsets, made.span(10, len(made.chars))


CALLS: dict[str, Callable[[], object]] = {
    "canonical_text, ASCII": lambda: _canonical(ASCII),
    "canonical_text, consonants": lambda: _canonical(LATIN, True),
    "canonical_text, wide": lambda: _canonical(WIDE),
    "canonical_text, folded": lambda: _canonical(LATIN, fold_confusables=True),
    "canonical_text, from parts": _from_parts,
    "shingles": lambda: shingles(CANONICAL, 4),
    "symbols": lambda: [(symbols_hash(text), symbol_places(text)) for text in (*TEXTS, "x² + 1.5 != -5 %")],
    "word_runs": lambda: WordRuns([CANONICAL, *map(canonical_text, TEXTS)], 5, 2).find(CANONICAL),
    "text_sketches": _text_sketches,
    "kgram_hashes": lambda: kgram_hashes(WIDE, 20),
    **{f"fingerprints, {name}": partial(fingerprints, WIDE, 20, 30, name) for name in SELECTIONS},
    "rare_grams": lambda: rare_grams(WIDE, 20, 100),
    "window_minima": lambda: window_minima(SHORT_HASHES, 40),
    "passages": lambda: join_runs(passages(ASCII[:4_000], WIDE[1_000:], 20, 30), 5),
    "word_tokens": lambda: word_tokens(WIDE[2_900:3_200]),
    "phrase_offsets": lambda: phrase_offsets(WIDE, [(("w1", "w2"), False), (("w3",), True)], max_per_phrase=5),
    "visible_text": _events,
    "word_index": lambda: word_index(range(12), TITLES, TEXTS),
    "find_word": lambda: word_segments.find_word(SEGMENT[0][0], "w1"),
    "find_prefix": lambda: word_segments.find_prefix(SEGMENT[0][0], "w1"),
    "document_frequencies": lambda: word_segments.document_frequencies(PHRASE[0][0], NONE_DELETED),
    "merged_segments": lambda: list(MergedSegments([(0, SEGMENT), (12, SEGMENT)])),
    "merged_segments, deleted": lambda: list(MergedSegments([(0, SEGMENT), (12, SEGMENT)], bytes([0, 1] * 12))),
    "word_scores": _scores,
    "minhash": lambda: (minhash(HASHES, 512), pack(MINIMA), bands(MINIMA, 32, 8)),
    "sketches": lambda: (sketches.distinct(HASHES), sketches.mod_sketch(HASHES, 4), sketches.min_sketch(HASHES, 99)),
    "overlap": lambda: (
        overlap.overlap(SORTED, OTHER),
        overlap.difference(SORTED, OTHER),
        overlap.matching_runs(HASHES, OTHER),
        overlap.pair_resemblances(array("Q", [1]), SORTED, array("Q", [0, 50]), array("I", [100, 100])),
    ),
    "estimates": lambda: (
        estimates.mod_resemblance(SORTED, OTHER, 4),
        estimates.mod_containment(SORTED, OTHER, 4),
        estimates.min_resemblance(SORTED[:50], OTHER[:50], 50),
        estimates.minhash_resemblance(MINHASHES[:128], MINHASHES[128:256]),
        estimates.minhash_resemblances(MINHASHES[:128], MINHASHES),
    ),
    "pair_verdicts": lambda: pair_verdicts(PAIRS, MINHASHES, COUNTS, 128, threshold=0.5),
    "representatives": _representatives,
    "pair_representatives": _pair_representatives,
    "token_pairs": _token_pairs,
    "shared_tokens": _shared_tokens,
    "posting_parts": _posting_parts,
    "repeated_shingles": _repeated_shingles,
    "components": _groups,
    "best_scores": lambda: (
        best_scores.top_scores(PAGES, SCORES, 100),
        best_scores.filter_pages(PAGES, SCORES, PAGES[::3]),
    ),
    "sorted_postings": lambda: (
        sorted_postings.sorted_postings(HASHES, ONES, PAGES),
        sorted_postings.merge_postings(SORTED, PAGES[: len(SORTED)], OTHER, PAGES[: len(OTHER)]),
        sorted_postings.drop_pages(SORTED, PAGES[: len(SORTED)], PAGES[::2]),
        sorted_postings.document_frequency_histogram(SORTED),
    ),
    "packed_positions": lambda: unpack_positions(pack_positions(PAGES)),
    "packed_postings": lambda: [
        unpack_postings(block, first) for first, block in pack_postings(SORTED, PAGES[: len(SORTED)], 1_000, 0)
    ],
}
