from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import QuestionError
from opensearch_winnow.batch import PassageIndex
from opensearch_winnow.cython_core.canonical_text import canonical_text

SENTENCE = "The quick brown fox jumps over the lazy dog while seven wizards quietly boil their jugs"
words = st.lists(st.sampled_from(["a", "B", "c,", "d\n", "(É)", "中文", "𠀀!"]), max_size=25).map(" ".join)


def test_a_passage_is_found_however_it_is_written() -> None:
    text = f"He wrote:\n\n«{SENTENCE.upper().replace(' ', chr(10))}», and went."
    (passage,) = PassageIndex(["Something else.", f"Once more: {SENTENCE}!"]).find(text)
    assert text[passage.start : passage.end] == SENTENCE.upper().replace(" ", "\n")
    assert (passage.text, passage.words, passage.other_start) == (1, 16, len("Once more: "))
    assert passage.other_end == passage.other_start + len(SENTENCE)
    question = "春眠不觉晓处处闻啼鸟夜来风雨声花落知多少"
    (passage,) = PassageIndex([question]).find("诗云：“春眠不觉晓，处处闻啼鸟。\n夜来风雨声，花落知多少。”")
    assert (passage.words, passage.other_start, passage.other_end) == (20, 0, 20)


def test_a_changed_word_ends_a_passage_and_a_short_text_is_found_as_a_whole() -> None:
    changed = SENTENCE.replace("lazy", "sleepy")
    assert PassageIndex([SENTENCE], words=13).find(changed) == []
    first, second = PassageIndex([SENTENCE], words=7).find(changed)
    assert (first.first_word, first.words, second.first_word, second.words) == (0, 7, 8, 8)
    index = PassageIndex(["one two three four five six seven eight", "one two three"], words=13, shortest=8)
    assert [each.text for each in index.find("zero ONE, two, three, four, five, six, seven, eight, nine")] == [0]
    assert index.find("one two three four five six seven") == []
    assert index.lengths == [8, 3]
    with pytest.raises(QuestionError, match="at least 1 word, got 0"):
        PassageIndex([], words=0)


@given(st.lists(words, max_size=4), words, st.integers(1, 5), st.integers(1, 5))
def test_both_sides_of_a_passage_have_the_same_words(texts: list[str], text: str, least: int, shortest: int) -> None:
    index = PassageIndex(texts, least, shortest)
    for each in index.find(text):
        here = canonical_text(text[each.start : each.end])
        there = canonical_text(texts[each.text][each.other_start : each.other_end])
        assert here.chars == there.chars
        assert len(here.words) == len(there.words) == each.words
        assert each.words >= min(least, index.lengths[each.text])


@given(words, st.integers(1, 8))
def test_a_text_has_itself(text: str, least: int) -> None:
    count = len(canonical_text(text).words)
    found = [(each.first_word, each.words) for each in PassageIndex([text], least, 1).find(text)]
    assert ((0, count) in found) == (count > 0)
