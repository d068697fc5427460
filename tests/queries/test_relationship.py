"""The relationship of two texts: its kinds on small examples, and the laws that hold for any passages."""

from __future__ import annotations

import random
from collections.abc import Sequence
from functools import partial
from typing import Any, get_args

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, compare
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest
from opensearch_winnow.queries.relationship import Kind, Lengths, Relationship, same_in
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate
from opensearch_winnow.types import Comparison, Passage

SMALL = Scheme(noise=6, guarantee=12, shingle=3)
SWAPPED = {"condensed": "expanded", "expanded": "condensed"}


def paragraphs(number: int, seed: int = 1, words: int = 40) -> list[str]:
    """Make paragraphs of words that no other paragraph has."""
    made = [f"{seed}word{each:04}" for each in range(number * words)]
    random.Random(seed).shuffle(made)
    return [" ".join(made[start : start + words]) for start in range(0, len(made), words)]


BOTH = "of both texts are in shared passages"
OURS, THEIRS = paragraphs(10), paragraphs(40, seed=2)


def related(a: Sequence[str], b: Sequence[str], **options: Any) -> Relationship:
    found = compare("\n".join(a), "\n".join(b), **options).relationship
    assert found is not None
    return found


WITH_ANOTHER_WORD = [OURS[0].replace(OURS[0].split()[20], "another"), *OURS[1:]]


@pytest.mark.parametrize(
    ("b", "kind", "reason"),
    [
        (OURS, "identical", "the same words in the same order"),
        ([", ".join(each.upper().split()) for each in OURS], "identical", "the same words in the same order"),
        (
            WITH_ANOTHER_WORD,
            "small edits",
            f"over 99 % {BOTH}, in the same order",
        ),
        (OURS[5:] + OURS[:5], "reorganised", f"over 99 % {BOTH}, 50 % of it in another order"),
        ([*OURS[:3], *THEIRS[:4], *OURS[7:]], "revised", f"60 % {BOTH}, in the same order"),
        (OURS[::2], "condensed", "all of B is in A, but only 51 % of A in B, in the same order"),
        (OURS + THEIRS[:10], "expanded", "all of A is in B, but only 50 % of B in A, in the same order"),
        ([*THEIRS, *OURS[4:6]], "includes parts", "about 80 words are in both (20 % of A and 5 % of B)"),
        (
            [*OURS[7:], *THEIRS[:5], *OURS[:2]],
            "includes parts",
            "about 200 words are in both (50 % of both texts), 40 % of it in another order",
        ),
        ([*THEIRS, OURS[4]], "little in common", "about 40 words are in both (10 % of A and 2 % of B)"),
        (THEIRS, "nothing in common", "no shared passage"),
        ([], "nothing in common", "no shared passage"),
    ],
)
def test_kinds_and_reasons(b: list[str], kind: Kind, reason: str) -> None:
    assert related(OURS, b) == Relationship(kind, reason)


def test_boilerplate_counts_as_no_part_of_a_text() -> None:
    licence = Boilerplate("licence", "\n".join(THEIRS[:20]))
    both = related(OURS[:5] + THEIRS[:20], OURS[5:] + THEIRS[:20], boilerplate=[licence])
    assert both == Relationship("nothing in common", "no shared passage except boilerplate")
    assert related(OURS + THEIRS[:20], OURS[::2] + THEIRS[:20], boilerplate=[licence]).kind == "condensed"
    assert related(OURS + THEIRS[:20], OURS[::2] + THEIRS[:20]).kind == "revised"  # if it counts


def test_short_texts_are_judged_by_their_scores_and_unread_ones_not_at_all() -> None:
    words = "a b c d e f g h i j k l m n"
    found = related([words], [f"{words} o"])
    assert found == Relationship("revised", "all of A and 83 % of B are shared")  # the order is not known
    unread = partial(Comparison, resemblance=1, containment=1, contained=1, passages=[], lengths=None)
    assert unread(sameness="").relationship is None
    assert unread(sameness="the same words").relationship == Relationship("identical", "the same words")


VOWELS = str.maketrans("aeiou", "uoiea")
FOLDED = Scheme(fold_confusables=True)
MILLER = "The miller keeps two sieves, a coarse one and a fine one."


@pytest.mark.parametrize(
    ("a", "b", "scheme", "reason"),
    [
        (MILLER, MILLER.upper(), FOLDED, "the same words in the same order"),
        (
            MILLER,
            MILLER.replace("e", "\N{CYRILLIC SMALL LETTER IE}"),
            FOLDED,
            "the same words in the same order, but some letters only look alike",
        ),
        (MILLER, MILLER.translate(VOWELS), Scheme.preset("consonants"), "the same consonants in the same order"),
        (
            "def add(one, two):\n    return one + two * 3  # a sum\n",
            "def plus(x, y): return x + y * 4\n",
            Scheme.preset("code"),
            "the same program, apart from names, strings, numbers, comments and layout",
        ),
    ],
)
def test_the_reason_says_what_is_the_same_in_the_scheme(a: str, b: str, scheme: Scheme, reason: str) -> None:
    assert compare(a, b, scheme, names=("a.py", "b.py")).relationship == Relationship("identical", reason)


def test_letters_that_may_only_look_alike() -> None:
    assert same_in(FOLDED) == "the same words in the same order, if letters that look alike are one"
    assert same_in(Scheme()) == "the same words in the same order"


def test_texts_without_words_have_nothing_in_common() -> None:
    for a, b in (("", ""), ("...", "...!"), ("", "?")):
        assert related([a], [b]) == Relationship("nothing in common", "no shared passage")


def test_a_text_that_repeats_the_other_or_has_many_of_its_words() -> None:
    shared = "all of A and over 99 % of B are in shared passages, in the same order"
    assert related(OURS, OURS + OURS) == Relationship("expanded", f"{shared}, but A has 400 words, and B 800")
    assert related(OURS + OURS, OURS).kind == "condensed"
    assert related(OURS, [*OURS, OURS[-1]]).kind == "small edits"
    longer = paragraphs(40)
    found = related(longer, [*THEIRS, *longer[:4]])
    assert found == Relationship("includes parts", "about 160 words are in both (10 % of A and 9 % of B)")
    # A short text inside a long one is a part.
    assert related([OURS[0]], [*THEIRS, OURS[0]]).kind == "includes parts"


def test_one_word_is_in_both() -> None:
    single = Lengths(a=100, b=100, words_in_a=10, words_in_b=10)
    compared = partial(Comparison, resemblance=0, containment=0, contained=0, lengths=single)
    for length in (10, 1):
        reason = f"about 1 word is in both ({length} % of both texts)"
        found = compared(passages=[Passage(0, length, 0, length)]).relationship
        assert found == Relationship("little in common", reason)


offsets = st.integers(0, 500)
runs = st.tuples(offsets, st.integers(1, 200), offsets, st.integers(1, 200)).map(
    lambda run: Passage(run[0], run[0] + run[1], run[2], run[2] + run[3])
)
shares = st.floats(0, 1)
lengths = st.builds(Lengths, *[st.integers(0, 1_000)] * 4)


@given(st.sampled_from(["", "the same words"]), shares, shares, st.lists(runs), st.lists(runs), lengths)
def test_every_input_has_a_relationship_that_swaps_with_the_texts(
    sameness: str,
    containment: float,
    contained: float,
    passages: list[Passage],
    boilerplate: list[Passage],
    sizes: Lengths,
) -> None:
    both = Comparison(0.0, containment, contained, passages, boilerplate, (0, 0), sameness, sizes)
    shared, grey = ([Passage(*run[2:], *run[:2]) for run in runs] for runs in (passages, boilerplate))
    turned_sizes = Lengths(sizes.b, sizes.a, sizes.words_in_b, sizes.words_in_a)
    back = Comparison(0.0, contained, containment, shared, grey, (0, 0), sameness, turned_sizes)
    found, swapped = both.relationship, back.relationship
    assert found is not None
    assert swapped is not None
    assert found.kind in get_args(Kind)
    assert found.reason
    assert swapped.kind == SWAPPED.get(found.kind, found.kind)
    assert (found.kind == "identical") == bool(sameness)


WORDS = ["rose", "is", "a", "Rose,", "thorn", "the", "of", "crawl", "copy", "database", "data base"]
texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


@given(texts, texts)
def test_identical_means_that_the_canonical_texts_are_equal(a: str, b: str) -> None:
    digests = [canonical_digest(canonical(text, SMALL)) for text in (a, b)]
    assert (related([a], [b], scheme=SMALL).kind == "identical") == (a != "" and digests[0] == digests[1])
