"""Text of strangers on a terminal: its width, its lines, and no control character."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.answers.display_text import one_line, printable, shorten, shorten_middle, width, wrap

# Scripts of every width, what joins them, and what must not get through.
texts = st.text(
    st.sampled_from("ab é中日かｱＡ한🙂❤👩\ufe0f́‍\u200b\u00ad\u1160אع \t\n\x1b\x07\x9b\u202e\u2066\ud800"), max_size=60
)
FAMILY = "👨\u200d👩\u200d👧"  # one emoji, drawn in two columns


@pytest.mark.parametrize(
    ("columns", "texts"),
    [
        (2, ["\u1112\u1161\u11ab", "👍🏽", "🇩🇪"]),  # the first is one syllable of conjoining Hangul
        (3, ["हिन्दी"]),
        (5, ["ｱﾊﾟｰﾄ", "עִבְרִית"]),
        (8, ["The mill", "물레방아"]),
        (9, ["Die Mühle", "Die Mu\u0308hle", "zero\u200bwidth"]),
        (10, ["I ❤\ufe0f mills", f"{FAMILY} at home"]),
        (11, ["soft\u00adhyphen"]),  # terminals draw the hyphen
        (14, ["水車小屋の歴史"]),
    ],
)
def test_the_width_of_titles(columns: int, texts: list[str]) -> None:
    assert [(text, width(text)) for text in texts] == [(text, columns) for text in texts]


def test_a_grapheme_is_never_cut() -> None:
    assert shorten(f"ab{FAMILY}cd", 4) == "ab…"
    assert shorten(f"ab{FAMILY}cd", 5) == f"ab{FAMILY}…"
    assert shorten("水車小屋", 4) == "水…"
    assert shorten_middle("cafe\u0301 cafe\u0301", 3) == "c…e\u0301"
    assert wrap([(f"abc{FAMILY}", "plain")], 4) == [[("abc", "plain")], [(FAMILY, "plain")]]


@pytest.mark.parametrize("columns", [-3, 0, 1])
def test_without_room_only_the_ellipsis_is_left(columns: int) -> None:
    assert shorten("mill", columns) == shorten_middle("mill", columns) == "…"
    assert shorten("", columns) == shorten_middle("", columns) == ""


@given(texts, st.integers(4, 20))
def test_wrapped_lines_fit_and_lose_nothing(text: str, columns: int) -> None:
    text = one_line(text)
    half = len(text) // 2
    lines = wrap([(text[:half], "plain"), (text[half:], "1")], columns)
    assert all(sum(width(piece) for piece, _ in line) <= columns for line in lines)
    assert "".join(piece for line in lines for piece, _ in line).replace(" ", "") == text.replace(" ", "")


@given(texts, st.integers(3, 20))
def test_shortened_texts_fit_and_printable_ones_keep_offsets(text: str, columns: int) -> None:
    assert len(printable(text)) == len(text)
    printable(text).encode()
    text = one_line(text)
    for shortened in (shorten(text, columns), shorten_middle(text, columns)):
        assert width(shortened) <= columns
        assert shortened == text or "…" in shortened
