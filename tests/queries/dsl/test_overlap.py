"""Tokens split into parts find every page, and their counts add up exactly."""

from __future__ import annotations

from hypothesis import given, strategies as st

from opensearch_winnow.queries.dsl.overlap import QuestionPart, overlap_parts, put_together, uncounted

TOKENS = [f"t{number}" for number in range(30)]
PAGES = st.dictionaries(st.sampled_from(["a", "b", "c", "d", "e"]), st.sets(st.sampled_from(TOKENS)))


def counted(part: QuestionPart, pages: dict[str, set[str]], minimum: int) -> dict[str, int]:
    """Return the pages with at least `minimum` tokens of a part, as an engine would."""
    shared = {id_: len(tokens & set(part.tokens)) for id_, tokens in pages.items()}
    return {id_: count for id_, count in shared.items() if count >= minimum}


@given(PAGES, st.lists(st.sampled_from(TOKENS), unique=True), st.integers(1, 30), st.integers(1, 30))
def test_parts_count_as_the_whole_does(
    pages: dict[str, set[str]], tokens: list[str], minimum: int, max_tokens: int
) -> None:
    token_parts = overlap_parts(tokens, minimum, max_tokens=max_tokens)
    assert sorted(token for part in token_parts for token in part.tokens) == sorted(tokens)
    assert all(0 < len(part.tokens) <= max_tokens for part in token_parts)
    found = [counted(part, pages, part.minimum) for part in token_parts]
    rest = [
        counted(part, {id_: pages[id_] for id_ in ids}, 1)
        for part, ids in zip(token_parts, uncounted(token_parts, found, minimum), strict=True)
    ]
    expected = {id_: len(shared) for id_, each in pages.items() if len(shared := each & set(tokens)) >= minimum}
    assert put_together([*found, *rest], minimum) == expected


def test_pages_that_have_enough_or_cannot_are_not_counted_again() -> None:
    token_parts = overlap_parts(TOKENS, 1, max_tokens=10)
    assert uncounted(token_parts, [{"a": 1}, {"b": 2}, {}], 1) == [[], [], []]
    token_parts = overlap_parts(TOKENS, 15, max_tokens=10)
    assert [part.minimum for part in token_parts] == [5, 5, 5]
    assert uncounted(token_parts, [{"a": 6, "b": 7}, {}, {}], 15) == [[], ["b"], ["b"]]
