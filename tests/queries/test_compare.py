from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow import Passage, Scheme, compare
from opensearch_winnow.cython_core.canonical_text import canonical_text

SMALL = Scheme(noise=6, guarantee=12, shingle=3)
WORDS = ["rose", "is", "a", "Rose,", "thorn", "the", "of", "crawl", "copy"]


def prose(words: int, seed: int) -> str:
    return " ".join(random.Random(seed).choices([f"word{i}" for i in range(500)], k=words))


texts = st.lists(st.sampled_from(WORDS), max_size=40).map(" ".join)


@given(texts, texts)
def test_scores_are_those_of_the_sets_of_shingles(a: str, b: str) -> None:
    both = compare(a, b, SMALL)

    def shingles(text: str) -> set[tuple[str, ...]]:
        words = text.casefold().replace(",", "").split()
        return {tuple(words[i : i + 3]) for i in range(max(len(words) - 2, min(len(words), 1)))}

    ours, theirs = shingles(a), shingles(b)
    shared = len(ours & theirs)
    assert both.resemblance == shared / max(len(ours | theirs), 1)
    assert both.containment == shared / max(len(ours), 1)
    assert both.contained == shared / max(len(theirs), 1)


@given(texts, texts)
def test_both_sides_of_a_passage_say_the_same(a: str, b: str) -> None:
    for start, end, other_start, other_end in compare(a, b, SMALL).passages:
        ours = canonical_text(a[start:end]).chars
        assert ours == canonical_text(b[other_start:other_end]).chars
        assert len(ours) >= SMALL.k


@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=40).map(" ".join))
def test_a_text_resembles_itself(text: str) -> None:
    both = compare(text, text.upper(), SMALL)
    assert (both.resemblance, both.containment, both.contained) == (1, 1, 1)


def test_containment_is_not_symmetric() -> None:
    chapter, rest = prose(200, 1), prose(600, 2)
    both = compare(chapter, f"{rest} {chapter}")
    assert both.containment == 1
    assert 0.2 < both.contained < 0.3
    assert both.resemblance == pytest.approx(both.contained)
    [passage] = both.passages
    assert passage == Passage(0, len(chapter), len(rest) + 1, len(rest) + 1 + len(chapter))


def test_offsets_are_code_points_of_the_text_as_it_was() -> None:
    quoted = "«Ein Ärgernis», sagte er — und ging; 😀 niemand hielt ihn auf, denn es war spät und sehr, sehr dunkel."
    a, b = f"😀 Vorher! {quoted} Nachher.", f"{prose(30, 3)}…  {quoted.upper()} ENDE"
    both = compare(a, b, Scheme(noise=20, guarantee=40))
    [(start, end, other_start, other_end)] = both.passages
    assert a[start:end] == quoted.strip("«.")
    assert b[other_start:other_end] == quoted.upper().strip("«.")


def test_edits_can_be_joined_for_display() -> None:
    source = prose(200, 4)
    edited = source.replace(source.split()[100], "changed")
    apart = compare(source, edited)
    joined = compare(source, edited, join_gap=10)
    assert len(apart.passages) == 2
    assert joined.passages == [Passage(0, len(source), 0, len(edited))]
    assert joined.resemblance == apart.resemblance


def test_nothing_in_common_and_nothing_at_all() -> None:
    assert compare(prose(50, 5), prose(50, 6)).passages == []
    for a, b in (("", ""), ("", "words"), ("?!", "…")):
        both = compare(a, b)
        assert (both.resemblance, both.containment, both.contained, both.passages) == (0, 0, 0, [])


def test_bytes_are_refused_in_words() -> None:
    with pytest.raises(TypeError, match="str"):
        compare("text", b"bytes")  # type: ignore[arg-type]
