from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.cython_core.visible_text import NAMES, VisibleText
from tests.cython_core import reference_visible_text as reference

Event = tuple[str, ...] | tuple[str, str, dict[str, str]]
INLINE = {"a", "b", "span", "my-card", "date", "ünbekannt", "a-name-that-is-longer-than-sixteen"}
TAGS = sorted({*" ".join(NAMES.values()).split(), *INLINE})
COMMON_TAGS = [
    "p",
    "br",
    "a",
    "b",
    "td",
    "pre",
    "svg",
    "title",
    "script",
    "noframes",
    "img",
    "link",
    "base",
]  # few, so that they often meet
CHARACTERS = (
    "aZ.é漢\U0001f600 \t\n\v\f\r\x1c\x1f\x85\xa0\xad\u200b\u2028\u3000\0\x01\x08\x7f\x9f\ufffd\ufeff\ud800\udc00"
)
ATTRIBUTES = st.fixed_dictionaries(
    {},
    optional={
        "alt": st.text(CHARACTERS, max_size=4),
        "type": st.sampled_from(["image", "IMAGE", "text", ""]),
        "rel": st.sampled_from(["canonical", "nofollow\tCanonical", "canonicals", "icon", ""]),
        "href": st.sampled_from(["/a", "http://b.example/", ""]),
    },
)


def events(tags: Sequence[str], text: st.SearchStrategy[str]) -> st.SearchStrategy[list[Event]]:
    tag = st.sampled_from(tags)
    return st.lists(
        st.one_of(
            st.tuples(st.just("data"), text),
            st.tuples(st.just("start"), tag, ATTRIBUTES),
            st.tuples(st.just("end"), tag),
        ),
        max_size=30,
    )


any_text = st.one_of(st.text(CHARACTERS, max_size=6), st.text(max_size=6))
any_events = st.one_of(events(TAGS, any_text), events(COMMON_TAGS, any_text))


def feed(page: VisibleText | reference.VisibleText, stream: Sequence[Event]) -> tuple[str, str, str, str, str]:
    for name, *arguments in stream:
        getattr(page, name)(*arguments)
    return page.close()


def text(*stream: Event | str) -> str:
    """Return the text of a page: of strings, "<b>" starts and "</b>" ends an element, and others are text."""
    seen: list[Event] = []
    for each in stream:
        if not isinstance(each, str):
            seen.append(each)
        elif tag := re.fullmatch(r"<(/?)([\w-]+)>", each):
            seen.append(("end", tag[2]) if tag[1] else ("start", tag[2], {}))
        else:
            seen.append(("data", each))
    return feed(VisibleText(), seen)[0]


# --- the rule ---------------------------------------------------------------------------------------------------------


@given(any_events, any_events, st.booleans())
def test_compiled_is_reference_page_after_page(first: list[Event], second: list[Event], alt: bool) -> None:
    page, plain = VisibleText(alt=alt), reference.VisibleText(alt=alt)
    assert feed(page, first) == feed(plain, first)
    assert feed(page, second) == feed(plain, second)


@pytest.mark.parametrize("tag", TAGS)
def test_compiled_is_reference_for_every_name(tag: str) -> None:
    stream: list[Event] = [("data", "a"), ("start", tag, {}), ("data", "b\n"), ("end", tag), ("data", "c")]
    in_drawing: list[Event] = [("start", "svg", {}), *stream]
    assert feed(VisibleText(), stream) == feed(reference.VisibleText(), stream)
    assert feed(VisibleText(), in_drawing) == feed(reference.VisibleText(), in_drawing)


outside = sorted({*TAGS} - {*reference.SKIPPED, *reference.VERBATIM, *reference.SVG_ONLY, "noframes", "svg"})
plain_text = st.text("aZ.é漢\U0001f600 \t\n\r\xad\u3000", max_size=6)


@given(events(outside, plain_text))
def test_no_character_is_lost_and_white_space_is_single(stream: list[Event]) -> None:
    seen, title, noframes, *_ = feed(VisibleText(), stream)
    given_ = "".join(each[1] for each in stream if each[0] == "data")
    assert re.sub(r"[ \n]", "", seen) == re.sub(r"[ \t\n\r]", "", given_)
    assert not re.search(r"^[ \n]|[ \n]{2}|[\t\r]|[ \n]$", seen)
    assert title == noframes == ""


@given(events(["b", "span", "my-card"], plain_text))
def test_inline_elements_separate_nothing(stream: list[Event]) -> None:
    given_ = "".join(each[1] for each in stream if each[0] == "data")
    assert feed(VisibleText(), stream)[0] == feed(VisibleText(), [("data", given_)])[0]


# --- examples ---------------------------------------------------------------------------------------------------------


def test_a_word_with_a_bold_letter_is_one_word_and_two_blocks_are_two_lines() -> None:
    assert (
        text("<p>", "<b>", "W", "</b>", "ord ", "</p>", "<div>", "\n next", "<br>", "</br>", "last")
        == "Word\nnext\nlast"
    )


def test_cells_fields_pictures_and_neighbouring_links_are_words_of_their_own() -> None:
    assert text("<td>", "1", "</td>", "<td>", "2", "</td>") == "1 2"
    assert text("Name", "<input>", "</input>", "Place") == "Name Place"
    assert text("on", "<img>", "</img>", "this", "<svg>", "</svg>", "week") == "on this week"
    assert text("<a>", "Home", "</a>", "<a>", "About", "</a>", "us") == "Home Aboutus"
    assert text("<a>", "Home", "</a>", ", ", "<a>", "About", "</a>") == "Home, About"


def test_pre_keeps_white_space_except_at_its_edges() -> None:
    assert text("a", "<pre>", "\n\n  x =  1\n\ty\xa0\n", "</pre>", " b") == "a\n  x =  1\n\ty\nb"
    assert text("a", "<pre>", " \n", "</pre>", "b") == "a\nb"


def test_hard_spaces_do_not_collapse_except_at_the_edges() -> None:
    assert text("<p>", "\xa0", "</p>", "<p>", "\xa0a\xa0 \xa0b\xa0", "</p>") == "a   b"


def test_control_characters_vanish_and_soft_hyphens_stay() -> None:
    assert text("a\0b\x08c\x9fd\x7f\xad\u200b\ufffd") == "abcd\xad\u200b\ufffd"
    assert text("a\vb\x85c\x1fd") == "a b c d"


def test_the_title_is_the_first_nonempty_one_outside_svg() -> None:
    def title(words: str) -> list[Event]:
        return [("start", "title", {}), ("data", words), ("end", "title")]

    drawing: list[Event] = [("start", "svg", {}), *title("icon"), ("end", "svg")]
    stream = [*drawing, *title(" \n"), *title(" The\n title "), *title("late"), ("data", "x")]
    assert feed(VisibleText(), stream) == ("x", "The title", "", "", "")


def test_invisible_elements_are_skipped_with_their_content() -> None:
    assert text("<iframe>", "<p>", "<iframe>", "a", "</iframe>", "b", "</p>", "</iframe>", "c") == "c"
    assert text("<svg>", "<desc>", "<p>", "</svg>", "</p>", "no", "</desc>", "yes") == "yes"


def test_noframes_is_returned_unparsed() -> None:
    stream: list[Event] = [
        ("start", "noframes", {}),
        ("data", "<p>a"),
        ("data", " \0b"),
        ("end", "noframes"),
        ("data", "c"),
    ]
    assert feed(VisibleText(), stream) == ("c", "", "<p>a \0b", "", "")


@pytest.mark.parametrize("tag", ["img", "area", "image"])
def test_alternative_texts_of_pictures_on_request(tag: str) -> None:
    stream: list[Event] = [("data", "a"), ("start", tag, {"alt": "two  words"}), ("end", tag), ("data", "b")]
    assert feed(VisibleText(alt=True), stream)[0] == "a two words b"
    assert feed(VisibleText(), stream)[0] == "a b"


def test_alternative_texts_of_image_buttons_but_not_of_other_fields() -> None:
    stream: list[Event] = [("start", "input", {"alt": "go", "type": "Image"}), ("start", "input", {"alt": "no"})]
    assert feed(VisibleText(alt=True), stream)[0] == "go"


@pytest.mark.parametrize("rel", ["canonical", "CANONICAL", "nofollow Canonical", "\ncanonical\tx"])
def test_the_first_canonical_link_and_the_first_base_count(rel: str) -> None:
    stream: list[Event] = [
        ("start", "script", {}),
        ("start", "link", {"rel": "canonical", "href": "/no"}),
        ("end", "script"),
        ("start", "link", {"rel": "canonicals", "href": "/no"}),
        ("start", "link", {"href": "/no"}),
        ("start", "link", {"rel": rel}),
        ("start", "link", {"rel": rel, "href": "/a"}),
        ("start", "link", {"rel": rel, "href": "/b"}),
        ("start", "base", {"target": "_top"}),
        ("start", "base", {"href": "http://base.example/"}),
        ("start", "base", {"href": "/no"}),
    ]
    assert feed(VisibleText(), stream) == ("", "", "", "/a", "http://base.example/")


# --- at the limits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tag", ["pre", "svg", "script", "a", "p"])
def test_depth_does_not_matter(tag: str) -> None:
    page = VisibleText()
    for _ in range(200_000):
        page.start(tag, {})
    assert page.depth == 200_000
    for _ in range(300_000):
        page.end(tag)
    assert page.depth == 0
    page.data("  a  b ")
    assert page.close() == ("a b", "", "", "", "")


def test_much_text_after_little() -> None:
    page = VisibleText()
    for size in (1, 5_000, 3_000_000, 7):
        for char in "x\xe9漢\U0001f600\xa0":
            page.data(f"<{char * size}>")
            assert page.close()[0] == f"<{char * size}>".replace("\xa0", " ")


@pytest.mark.parametrize("wrong", [None, b"p", 1])
def test_other_types_are_rejected(wrong: object) -> None:
    page = VisibleText()
    with pytest.raises(TypeError):
        page.start(wrong, {})  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        page.end(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        page.data(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        VisibleText(True)  # type: ignore[call-arg]
