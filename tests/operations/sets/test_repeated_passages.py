"""Repeated passages, compared with a finder that keeps every run of words of every text in memory."""

from __future__ import annotations

import os
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.operations.sets import shingle_counts
from opensearch_winnow.operations.sets.repeated_passages import (
    PassageOptions,
    RepeatedPassage,
    RepeatedPassageFinder,
    without_passages,
)
from tests.operations.sets.json_lines import words_of

LENGTHS, COUNTS, WHICH = st.integers(1, 5), st.integers(2, 4), st.sampled_from(["later", "every"])
OPTIONS = st.builds(PassageOptions, words=LENGTHS, documents=COUNTS, occurrences=WHICH)
# Few words, so that passages repeat; written in several ways, some without a space between them.
WORD = st.sampled_from(["a", "B", "b", "é", "E\u0301", "日", "本", "日本", "ﬁ", "x\xady", "㍿"])
SEPARATOR = st.sampled_from([" ", "\n\n", ", ", " — ", "."])
TEXT = st.lists(st.tuples(WORD, SEPARATOR), max_size=25).map(lambda parts: "".join(map("".join, parts)))
TEXTS = st.lists(TEXT, max_size=6)


def found(texts: list[str], options: PassageOptions) -> list[list[RepeatedPassage]]:
    with RepeatedPassageFinder(options) as finder:
        for text in texts:
            finder.add(text)
        finder.count()
        return [finder.passages(text) for text in texts]


def repeated_words(texts: list[str], options: PassageOptions) -> list[dict[int, int]]:
    """Return for each text its repeated words, by number, and the smallest count of the runs that have them."""
    n = options.words
    runs = [[tuple(words[i : i + n]) for i in range(len(words) - n + 1)] for words in map(words_of, texts)]
    having = defaultdict(set)
    for number, of_text in enumerate(runs):
        for run in of_text:
            having[run].add(number)
    seen: set[tuple[str, ...]] = set()
    answer = []
    for of_text in runs:
        repeated: dict[int, int] = {}
        for i, run in enumerate(of_text):
            before = run in seen or run in of_text[: max(i - n + 1, 0)]
            if len(having[run]) >= options.documents and (before or options.occurrences == "every"):
                for word in range(i, i + n):
                    repeated[word] = min(repeated.get(word, len(having[run])), len(having[run]))
        seen |= {*of_text}
        answer.append(repeated)
    return answer


@given(TEXTS, OPTIONS)
@example(["a b " * 20, "a b " * 9], PassageOptions(words=4))
@example(["日本日本", "x日本日本y"], PassageOptions(words=2))
@example(["㍿ a", "社 a", "社 a"], PassageOptions(words=2))
def test_exactly_the_repeated_words_are_found(texts: list[str], options: PassageOptions) -> None:
    for text, passages, repeated in zip(texts, found(texts, options), repeated_words(texts, options), strict=True):
        canonical = canonical_text(text)
        ends = [*canonical.words, len(canonical.chars)]
        counts: dict[int, int] = {}
        for passage in passages:
            inside = []
            for word, (start, end) in enumerate(pairwise(ends)):
                place = canonical.span(start, end)
                if passage.start <= place[0] and place[1] <= passage.end:
                    inside.append(word)
            assert canonical.span(ends[inside[0]], ends[inside[-1] + 1]) == passage[:2]
            assert passage.documents == min(repeated[word] for word in inside)
            counts |= dict.fromkeys(inside, passage.documents)
        # One character may stand for several words, of which only some are repeated.
        missing = repeated.keys() - counts.keys()
        assert all(text[canonical.offsets[canonical.words[word]]] == "㍿" for word in missing)
        assert counts.keys() <= repeated.keys()


@pytest.mark.check
@given(TEXTS, OPTIONS)
def test_nothing_else_is_cut(texts: list[str], options: PassageOptions) -> None:
    for text, passages in zip(texts, found(texts, options), strict=True):
        rest, done = [], 0
        for start, end, _ in passages:
            rest += words_of(text[done:start])
            done = end
        assert words_of(without_passages(text, passages)) == [*rest, *words_of(text[done:])]


@given(TEXTS, st.integers(1, 5))
def test_every_word_that_is_cut_stays_elsewhere(texts: list[str], words: int) -> None:
    """Nothing is lost: a text has every word of a set at least once, and the first text of all stays as it is."""
    passages = found(texts, PassageOptions(words=words))
    left = [words_of(without_passages(*each)) for each in zip(texts, passages, strict=True)]
    assert {word for each in left for word in each} == {word for text in texts for word in words_of(text)}


def test_what_follows_or_repeats_a_passage_does_not_save_it() -> None:
    """A passage is cut even where the words after it make a longer one, which occurs here for the first time."""
    passage = "one two three four five six"
    texts = [f"{passage} a", f"x {passage} b y", f"{passage} b z"]
    cut = found(texts, PassageOptions(words=4))
    assert [without_passages(*each) for each in zip(texts, cut, strict=True)] == [texts[0], "x  b y", " z"]
    texts = ["la " * 20, "la " * 9, "oh " + "la " * 4]
    cut = found(texts, PassageOptions(words=4))
    assert [without_passages(*each).split() for each in zip(texts, cut, strict=True)] == [["la"] * 4, [], ["oh"]]


def test_wrapping_case_and_punctuation_do_not_count() -> None:
    passage = "The quick brown fox, jumps over the lazy dog"
    texts = [f"One. {passage}.", f"Zwei: “{passage.upper().replace(' ', '  ')}” fertig", "no fox here"]
    first, second, third = found(texts, PassageOptions(words=5, occurrences="every"))
    assert [texts[0][start:end] for start, end, _ in first] == [passage]
    assert [texts[1][start:end] for start, end, _ in second] == [passage.upper().replace(" ", "  ")]
    assert third == []
    later = found(texts, PassageOptions(words=5))
    assert later == [[], second, []]
    assert without_passages(texts[1], second) == "Zwei: “ ” fertig"


@given(TEXTS, OPTIONS)
def test_blocks_and_parts_do_not_matter(texts: list[str], options: PassageOptions) -> None:
    expected = found(texts, options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shingle_counts, "SHINGLES_PER_BLOCK", 10)
        patch.setattr(shingle_counts, "PARTS", 3)
        assert found(texts, options) == expected


def test_changed_texts_are_noticed() -> None:
    for texts in (["a b c", "a b x"], ["x y"], ["a b c", "a b d", "a b e"]):
        with RepeatedPassageFinder(PassageOptions(words=2)) as finder:
            finder.add("a b c")
            finder.add("a b d")
            finder.count()
            with pytest.raises(WinnowError, match="the rows changed while they were read"):
                list(map(finder.passages, texts))


def test_impossible_options_are_refused(tmp_path: Path) -> None:
    with pytest.raises(WinnowError, match=r"words is a whole number from 1 .*, not 0"):
        PassageOptions(words=0)
    with pytest.raises(WinnowError, match=r"documents is a whole number from 2 .*, not 1"):
        PassageOptions(documents=1)
    with pytest.raises(WinnowError, match="'first'"):
        PassageOptions(occurrences="first")  # type: ignore[arg-type]
    with pytest.raises(WinnowError, match=f"cannot work in the folder {tmp_path}/none"):
        RepeatedPassageFinder(work=tmp_path / "none")


def test_a_full_disk_is_one_sentence() -> None:
    full = os.open("/dev/full", os.O_RDWR)
    try:
        with RepeatedPassageFinder(PassageOptions(words=1)) as finder:
            os.dup2(full, finder._counts._shingles.fileno())
            finder.add("a b c")
            with pytest.raises(WinnowError, match=r"the disk of the work folder .* is full: free some space"):
                finder.count()
    finally:
        os.close(full)
