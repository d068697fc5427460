from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.visible_text import NAMES, VisibleText
from tests.cython_core import reference_visible_text as reference
from tests.refused import refused

Event = tuple[str, ...] | tuple[str, str, dict[str, str]]
INLINE = {"a", "b", "span", "my-card", "date", "ünbekannt", "a-name-that-is-longer-than-sixteen"}
TAGS = sorted({*" ".join(NAMES.values()).split(), *INLINE})
COMMON_TAGS = [*("p", "br", "a", "b", "td", "pre", "svg"), *("title", "script", "noframes", "img", "link", "base")]
CHARACTERS = "aZ.é漢\U0001f600 \t\n\v\f\r\x1c\x1f\x85\xa0\xad\u200b\u2028\u3000"
CHARACTERS += "\0\x01\x08\x7f\x9f\ufffd\ufeff\ud800\udc00"
VALUES = {"alt": st.text(CHARACTERS, max_size=4), "type": st.sampled_from(["image", "IMAGE", "text", ""])}
VALUES["rel"] = st.sampled_from(["canonical", "nofollow\tCanonical", "canonicals", "icon", ""])
VALUES["href"] = st.sampled_from(["/a", "http://b.example/", ""])
ATTRIBUTES = st.fixed_dictionaries({}, optional=VALUES)


def events(tags: Sequence[str], text: st.SearchStrategy[str]) -> st.SearchStrategy[list[Event]]:
    tag = st.sampled_from(tags)
    starts = st.tuples(st.just("start"), tag, ATTRIBUTES)
    return st.lists(st.tuples(st.just("data"), text) | starts | st.tuples(st.just("end"), tag), max_size=30)


any_text = st.one_of(st.text(CHARACTERS, max_size=6), st.text(max_size=6))
any_events = st.one_of(events(TAGS, any_text), events(COMMON_TAGS, any_text))


def feed(page: VisibleText | reference.VisibleText, stream: Sequence[Event]) -> tuple[str, str, str, str, str]:
    for name, *arguments in stream:
        getattr(page, name)(*arguments)
    return page.close()


def parsed(html: str) -> list[Event]:
    """Return the events of elements without attributes, and of text."""
    seen: list[Event] = []
    for each in filter(None, re.split("(<[^<>]*>)", html)):
        tag = re.fullmatch(r"<(/?)([\w-]+)>", each)
        seen.append(("data", each) if not tag else ("end", tag[2]) if tag[1] else ("start", tag[2], {}))
    return seen


# --- the rule ---------------------------------------------------------------------------------------------------------


@given(any_events, any_events, st.booleans())
def test_compiled_is_reference_page_after_page(first: list[Event], second: list[Event], alt: bool) -> None:
    page, plain = VisibleText(alt=alt), reference.VisibleText(alt=alt)
    assert feed(page, first) == feed(plain, first)
    assert feed(page, second) == feed(plain, second)


@pytest.mark.parametrize("tag", TAGS)
def test_compiled_is_reference_for_every_name(tag: str) -> None:
    stream: list[Event] = [("data", "a"), ("start", tag, {}), ("data", "b\n"), ("end", tag), ("data", "c")]
    for events in (stream, [("start", "svg", {}), *stream]):
        assert feed(VisibleText(), events) == feed(reference.VisibleText(), events)


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


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p><b>W</b>ord </p><div>\n next<br></br>last", "Word\nnext\nlast"),
        ("<td>1</td><td>2</td>", "1 2"),
        ("on<img></img>this<svg></svg>week", "on this week"),
        ("<a>Home</a><a>About</a>us", "Home Aboutus"),
        ("<a>Home</a>, <a>About</a>", "Home, About"),
        ("a<pre>\n\n  x =  1\n\ty\xa0\n</pre> b", "a\n  x =  1\n\ty\nb"),
        ("<p>\xa0</p><p>\xa0a\xa0 \xa0b\xa0</p>", "a   b"),
        ("a\0b\x08c\x9fd\x7f\xad\u200b\ufffd\ve\x85f\x1fg", "abcd\xad\u200b\ufffd e f g"),
        ("<iframe><p><iframe>a</iframe>b</p></iframe>c", "c"),
        ("<svg><desc><p></svg></p>no</desc>yes", "yes"),
    ],
)
def test_text_of(html: str, expected: str) -> None:
    assert feed(VisibleText(), parsed(html))[0] == expected


def test_the_title_is_the_first_nonempty_one_outside_svg_and_noframes_is_unparsed() -> None:
    titles = "<svg><title>icon</title></svg><title> \n</title><title> The\n title </title><title>late</title>x"
    assert feed(VisibleText(), parsed(titles)) == ("x", "The title", "", "", "")
    noframes: list[Event] = [("start", "noframes", {}), ("data", "<p>a"), ("data", " \0b"), ("end", "noframes")]
    assert feed(VisibleText(), [*noframes, ("data", "c")]) == ("c", "", "<p>a \0b", "", "")


def test_alternative_texts_of_pictures_and_image_buttons_on_request() -> None:
    for tag in ("img", "area", "image"):
        stream: list[Event] = [("data", "a"), ("start", tag, {"alt": "two  words"}), ("end", tag), ("data", "b")]
        assert feed(VisibleText(alt=True), stream)[0] == "a two words b"
        assert feed(VisibleText(), stream)[0] == "a b"
    stream = [("start", "input", {"alt": "go", "type": "Image"}), ("start", "input", {"alt": "no"})]
    assert feed(VisibleText(alt=True), stream)[0] == "go"


@pytest.mark.parametrize("rel", ["canonical", "CANONICAL", "nofollow Canonical", "\ncanonical\tx"])
def test_the_first_canonical_link_and_the_first_base_count(rel: str) -> None:
    links = [{"rel": "canonicals", "href": "/no"}, {"href": "/no"}, {"rel": rel}]
    links += [{"rel": rel, "href": "/a"}, {"rel": rel, "href": "/b"}]
    bases = [{"target": "_top"}, {"href": "http://base.example/"}, {"href": "/no"}]
    stream: list[Event] = [("start", "script", {}), ("start", "link", links[3]), ("end", "script")]
    stream += [("start", "link", link) for link in links] + [("start", "base", base) for base in bases]
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


def test_other_types_are_rejected() -> None:
    page = VisibleText()
    for wrong in (None, b"p", 1):
        refused(TypeError, "", page.start, wrong, {})
        refused(TypeError, "", page.end, wrong)
        refused(TypeError, "", page.data, wrong)
    refused(TypeError, "", VisibleText, True)
