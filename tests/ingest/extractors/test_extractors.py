"""Properties of every extractor, and how extractors are found by name."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import EntryPoint, EntryPoints
from types import SimpleNamespace

import pytest

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest import extractors
from opensearch_winnow.ingest.extractors import Extracted, ExtractError, Extractor, extractor, extractor_names

WHOLE_PAGE_EXTRACTORS = ("lxml", "beautifulsoup")  # the other extractors leave out what they consider navigation

PAGES = {
    "": ("", None),
    " \n": ("", None),
    "<!-- nothing -->": ("", None),
    "just text": ("just text", None),
    "<title> A\n title </title><p><b>W</b>ord<p>next": ("Word\nnext", "A title"),
    "<p>one<script>var x = '<p>no'</script><style>p {}</style>, two": ("one, two", None),
    "<table><tr><td>1<td>2<tr><td>3</table>": ("1 2\n3", None),
    "<ul><li>a<li>b<ul><li>c</ul></ul>d": ("a\nb\nc\nd", None),
    "<pre>\n  x\n   y</pre>z": ("  x\n   y\nz", None),
    "a&nbsp;b &amp; c&shy;d&#x2019;s <br> e": ("a b & c\xadd’s\ne", None),
    "<select><option>one<option>two</select>": ("one\ntwo", None),
    "<svg><title>icon</title><text>drawn</text></svg><title>page</title>x": ("drawn\nx", "page"),
    "<iframe><p>no</p></iframe><noscript><p>kept</p></noscript><div hidden>hidden</div>": ("kept\nhidden", None),
    "<frameset><frame src=a><noframes><body><p>old <b>page</b></body></noframes></frameset>": ("old page", None),
    "<html><body><p>one</body></html>two<p>three": ("one\ntwo\nthree", None),
    "<meta charset=gb2312><p>日本語": ("日本語", None),
    "<?xml version='1.0' encoding='iso-8859-1'?><html><body>é</body></html>": ("é", None),
    "<p>NUL\0s and \x01 controls\x9f": ("NULs and controls", None),
    "<my-card>cus<my-b>tom</my-b></my-card>": ("custom", None),
    "<a>Home</a><a>About</a>": ("Home About", None),
    "one<Template id=t><p>no<template>no</template>no</TEMPLATE>, two": ("one, two", None),
    "<my-card><template shadowrootmode=open>drawn</template></my-card>": ("drawn", None),
    "<template-list>kept</template-list>": ("kept", None),
}


@pytest.fixture(params=WHOLE_PAGE_EXTRACTORS)
def whole(request: pytest.FixtureRequest) -> Extractor:
    return extractor(request.param)


def test_a_page_becomes_this_text_whatever_the_page_before(whole: Extractor) -> None:
    for _ in range(2):
        assert [whole(html.encode()) for html in PAGES] == [Extracted(*expected) for expected in PAGES.values()]


@pytest.mark.parametrize("name", WHOLE_PAGE_EXTRACTORS)
def test_alt_texts_are_read_on_request(name: str) -> None:
    html = b"<p>a<img alt='the sea'>b<input type=image alt=go><input alt=no>"
    assert extractor(name, alt=True)(html).text == "a the sea b go"
    assert extractor(name)(html).text == "a b"


LINKED = {
    '<link rel="canonical" href="/a">': ("/a", ""),
    "<LINK HREF=/a REL='nofollow Canonical'><link rel=canonical href=/b>": ("/a", ""),
    "<base href='http://b.e/'><base href=/no><link rel=canonical href='a?b&amp;c#d'>": ("a?b&c#d", "http://b.e/"),
    "<link rel=canonical><link rel='stylesheet' href=/s><link rel=canonical href=javascript:x>": ("javascript:x", ""),
    "<!-- <link rel=canonical href=/no> --><script>'<link rel=canonical href=/no>'</script>": ("", ""),
    "<template><link rel=canonical href=/no></template><a rel=canonical href=/no>x</a>": ("", ""),
    "<p>text<p><link rel=canonical href=/late>": ("/late", ""),
    f"<link rel=canonical href={'x' * 2_049}><base href={'x' * 3_000}>": ("", ""),
}


@pytest.mark.check
@pytest.mark.parametrize("name", [*WHOLE_PAGE_EXTRACTORS, "trafilatura"])
def test_the_canonical_link_and_the_base_are_read_as_they_are_written(name: str) -> None:
    extract = extractor(name)
    found = [extract(f"<title>t</title>{html}<p>text".encode()) for html in LINKED]
    assert [(page.canonical, page.base) for page in found] == list(LINKED.values())
    assert {page.title for page in found} == {"t"}


def test_main_text_only() -> None:
    sentences = [f"Sentence {i} of an article that goes on for quite a while, and then some." for i in range(9)]
    body = f"<nav><a href=/>Home</a></nav><article><p>{'</p><p>'.join(sentences)}</article><footer>Imprint</footer>"
    html = f"<html><head><title>News</title></head><body>{body}</body></html>"
    text, title, *_ = extractor("trafilatura")(html.encode())
    assert (text.splitlines()[0], title) == (sentences[0], "News")
    assert "Imprint" not in text
    assert extractor("trafilatura")(b"") == Extracted("", None)


def test_extractors_are_found_by_name() -> None:
    assert {"lxml", "beautifulsoup", "trafilatura"} <= set(extractor_names())
    with pytest.raises(WinnowError, match=r"there is no extractor 'nonsense': choose one of beautifulsoup, lxml, "):
        extractor("nonsense")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "trafilatura", None)
    monkeypatch.delitem(sys.modules, "opensearch_winnow.ingest.extractors.trafilatura_main_text", raising=False)
    with pytest.raises(WinnowError, match=r'pip install "opensearch-winnow\[trafilatura\]"$'):
        extractor("trafilatura")


def breaks(alt: bool) -> Extractor:
    def extract(html: bytes) -> Extracted:
        raise RecursionError(f"deep in {html!r} {alt}")

    return extract


def gives_nothing(alt: bool) -> Extractor:
    return lambda html: (None, f"{html!r} {alt}")  # type: ignore[return-value]


def knows_no_links(alt: bool) -> Extractor:
    return lambda html: (f"{html!r} {alt}", None)  # type: ignore[return-value]


def theirs(monkeypatch: pytest.MonkeyPatch, factory: Callable[[bool], Extractor]) -> Extractor:
    """Return what `factory` makes, as an extractor that a package has brought."""
    entry = EntryPoint("theirs", "their_package:make", extractors.GROUP)
    monkeypatch.setitem(sys.modules, "their_package", SimpleNamespace(make=factory))
    monkeypatch.setattr(extractors, "entry_points", lambda **_: EntryPoints([entry]))
    return extractor("theirs")


def test_an_extractor_need_not_know_links(monkeypatch: pytest.MonkeyPatch) -> None:
    assert theirs(monkeypatch, knows_no_links)(b"page") == Extracted("b'page' False", None, "", "")


@pytest.mark.parametrize(
    ("factory", "reason"),
    [(breaks, "extractor theirs: RecursionError"), (gives_nothing, "extractor theirs: gives NoneType for a text")],
)
def test_a_failure_in_an_extractor_becomes_a_reason(
    monkeypatch: pytest.MonkeyPatch, factory: Callable[[bool], Extractor], reason: str
) -> None:
    with pytest.raises(ExtractError) as error:
        theirs(monkeypatch, factory)(b"page")
    assert str(error.value) == reason
