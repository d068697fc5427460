"""How much of a text is in passages, and what is not."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, compare
from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.answers.asking.comparison_words import differences_summary
from opensearch_winnow.queries.spans import merged_spans

SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)).map(lambda span: (span[0], sum(span))), max_size=8)


@given(st.text(st.sampled_from("a .\n"), min_size=100, max_size=100), SPANS, SPANS)
def test_every_character_is_in_passages_or_grey_or_neither(
    text: str, passages: list[tuple[int, int]], grey: list[tuple[int, int]]
) -> None:
    side = ComparedText(id="x", text=text, passages=passages, boilerplate=grey)
    shared, explained = ({at for span in each for at in range(*span)} for each in (passages, passages + grey))
    assert side.covered == len(shared) / 100
    assert round(side.greyed * 100) == len(explained - shared)
    rest = {at for span in side.unshared for at in range(*span)}
    assert not rest & explained
    assert {at for at in set(range(100)) - explained if text[at] == "a"} <= rest
    assert all("a" in text[start:end] for start, end in side.unshared)
    assert side.unshared_words == sum(len(text[start:end].replace(".", " ").split()) for start, end in side.unshared)


@given(SPANS)
def test_united_places_are_the_same_places(spans: list[tuple[int, int]]) -> None:
    found = merged_spans(spans)
    assert [at for span in found for at in range(*span)] == sorted({at for span in spans for at in range(*span)})
    assert all(end < start for (_, end), (start, _) in pairwise(found))


def test_short_passages_are_hidden_and_the_others_keep_their_numbers() -> None:
    long = "Nobody in the valley has ever seen the miller weigh a sack of his own flour before noon, or after."
    short = "Seven remarkable expressions standing quite close together."
    a, b = f"{short} One. {long}", f"{long} Another. {short}"
    comparison = compare(a, b, Scheme.preset("passages"))
    sides = ComparedText(id="a", text=a), ComparedText(id="b", text=b)
    every = Compared.of(*sides, comparison, Scheme())
    assert [each.number for each in every.passages] == [1, 2]
    some = Compared.of(*sides, comparison, Scheme(), min_words=10)
    assert [each.number for each in some.passages] == [2]
    assert some.hidden == 1
    assert some.a.covered < every.a.covered
    assert differences_summary(every) == "1 word of A and 1 word of B are in no shared passage"
    whole = Compared.of(sides[0], sides[0], compare(a, a, Scheme.preset("passages")), Scheme())
    assert differences_summary(whole) == "All words are shared"
