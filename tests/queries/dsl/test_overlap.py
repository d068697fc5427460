"""The parts of many tokens: each page is found, and its tokens are counted exactly."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.queries.dsl.overlap import Part, parts, put_together, uncounted

TOKENS = [f"t{number}" for number in range(30)]
PAGES = st.dictionaries(st.sampled_from(["a", "b", "c", "d", "e"]), st.sets(st.sampled_from(TOKENS)))


def counted(part: Part, pages: dict[str, set[str]], minimum: int) -> dict[str, int]:
    """What an engine answers."""
    shared = {id_: len(tokens & set(part.tokens)) for id_, tokens in pages.items()}
    return {id_: count for id_, count in shared.items() if count >= minimum}


@given(PAGES, st.lists(st.sampled_from(TOKENS), unique=True), st.integers(1, 30), st.integers(1, 30))
def test_parts_count_as_the_whole_does(pages: dict[str, set[str]], tokens: list[str], minimum: int, most: int) -> None:
    asked = parts(tokens, minimum, most=most)
    assert sorted(token for part in asked for token in part.tokens) == sorted(tokens)
    assert all(0 < len(part.tokens) <= most for part in asked)
    found = [counted(part, pages, part.minimum) for part in asked]
    rest = [
        counted(part, {id_: pages[id_] for id_ in ids}, 1)
        for part, ids in zip(asked, uncounted(asked, found, minimum), strict=True)
    ]
    expected = {id_: len(shared) for id_, each in pages.items() if len(shared := each & set(tokens)) >= minimum}
    assert put_together([*found, *rest], minimum) == expected


def test_nothing_is_counted_again_where_one_token_is_enough() -> None:
    asked = parts(TOKENS, 1, most=10)
    assert uncounted(asked, [{"a": 1}, {"b": 2}, {}], 1) == [[], [], []]


def test_pages_that_cannot_have_enough_are_not_counted() -> None:
    asked = parts(TOKENS, 15, most=10)
    assert [part.minimum for part in asked] == [5, 5, 5]
    assert uncounted(asked, [{"a": 6, "b": 7}, {}, {}], 15) == [[], ["b"], ["b"]]
