from __future__ import annotations

from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.phrase_offsets import phrase_offsets
from opensearch_winnow.cython_core.word_tokens import word_tokens
from tests.refused import refused

Phrases = list[tuple[tuple[str, ...], bool]]

WORDS = [*"aAbée日本ß-.\U0001f600\ud800", "aa", "ab", "a\u0301", "日本", "ss"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join) | st.text()


def expected_offsets(text: str, phrases: Phrases, max_per_phrase: int) -> list[tuple[int, int, int]]:
    words, starts, ends = word_tokens(text)
    offsets = []
    for index, (phrase, prefix) in enumerate(phrases):
        found = []
        for at in range(len(words) - len(phrase) + 1 if phrase else 0):
            here = words[at : at + len(phrase)]
            if prefix and here[-1].startswith(phrase[-1]):
                here[-1] = phrase[-1]
            if here == list(phrase):
                found.append((starts[at], ends[at + len(phrase) - 1], index))
        offsets += found[:max_per_phrase]
    return sorted(offsets, key=lambda place: (place[0], place[2]))


@given(TEXTS, st.lists(st.tuples(TEXTS.map(lambda text: tuple(word_tokens(text)[0][:4])), st.booleans())), st.data())
def test_every_occurrence_is_found(text: str, phrases: Phrases, data: st.DataObject) -> None:
    words = word_tokens(text)[0]
    if words:  # random phrases would rarely occur
        start = data.draw(st.integers(0, len(words) - 1))
        phrase = words[start : start + data.draw(st.integers(1, 4))]
        cut = data.draw(st.integers(1, len(phrase[-1])))
        phrases = [*phrases, (tuple(phrase), False), ((*phrase[:-1], phrase[-1][:cut]), True)]
    most = data.draw(st.integers(0, 5))
    assert phrase_offsets(text, phrases, max_per_phrase=most) == expected_offsets(text, phrases, most)


def test_words_next_to_each_other_are_not_one_word() -> None:
    phrases: Phrases = [(("ab",), False), (("a", "b"), False), (("a", "b"), True), (("a",), True)]
    found = [(0, 3, 1), (0, 3, 2), (0, 1, 3), (5, 7, 0), (5, 7, 3), (9, 13, 2), (9, 10, 3)]
    assert phrase_offsets("a b, ab, a bc", phrases, max_per_phrase=9) == found


def test_a_long_text_and_a_long_phrase() -> None:
    text, phrase = "日" * 200_000, ("日",) * 200_000
    assert phrase_offsets(text, [((*phrase[:5_000], "本"), False)], max_per_phrase=9) == []
    assert phrase_offsets(text, [(phrase, False), ((*phrase, "日"), False)], max_per_phrase=9) == [(0, 200_000, 0)]


def test_wrong_types_are_rejected() -> None:
    refused(TypeError, r"phrase_offsets\(\) expects str, got bytes", phrase_offsets, b"a", [], max_per_phrase=1)
    refused(AttributeError, "", phrase_offsets, "a", [((1,), False)], max_per_phrase=1)
