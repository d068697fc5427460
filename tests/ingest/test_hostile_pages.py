"""Pages that broke a parser, and real pages: no visible text is lost, and none takes too long."""

from __future__ import annotations

import json
import re
import time
from collections import Counter
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from lxml import etree

from opensearch_winnow.cython_core.visible_text import VisibleText
from opensearch_winnow.ingest.extractors import ExtractError, extractor, lxml_events
from tests.quality.corpora import public_pages

MAX_SECONDS = 5.0  # for one page; most take a hundredth of it
WORD = re.compile(r"\w+")


def nested(tag: str, depth: int) -> str:
    return f"<{tag}>" * depth + "deepword" + f"</{tag}>" * depth + "<p>after"


# By name: a page, and its expected text, or a pattern for it after a slash.
HOSTILE: dict[str, tuple[str, str]] = {
    **{f"{depth:,} deep": (nested("div", depth), "deepword\nafter") for depth in (300, 2_500, 500_000)},
    **{f"100,000 {tag}": (nested(tag, 100_000), "deepword\nafter") for tag in ("b", "pre", "svg")},
    "100,000 tables": ("<table><tr><td>" * 100_000 + "deepword", "deepword"),
    "never closed": ("<p>x<table>" * 20_000 + "lastword", r"/^x\n(x\n)+lastword$"),
    "formatting never closed": ("<a><b><i><font>" * 20_000 + "lastword", "lastword"),
    "a text of 11 MB": (f"<p>first {'word ' * 2_300_000}lastword<p>after", r"/^first word .* word lastword\nafter$"),
    "an attribute of 11 MB": ("<p title='" + "word " * 2_300_000 + "'>lastword<p>after", "lastword\nafter"),
    "50,000 attributes": ("<p " + " ".join(f"a{i}=1" for i in range(50_000)) + ">lastword<p>after", "lastword\nafter"),
    "an attribute 200,000 times": ("<p " + "a=1 " * 200_000 + ">lastword<p>after", "lastword\nafter"),
    "a name of 10 MB": ("<" + "a" * 10_000_000 + ">lastword", "lastword"),
    "a million hard spaces": ("<p>a" + "\xa0" * 1_000_000 + "b", r"/^a {1000000}b$"),
    "50,000 entities": ("<p>" + "&amp;" * 50_000 + "lastword", r"/^&{50000}lastword$"),
    "3 MB of <": ("<" * 3_000_000 + " lastword", r"/^<+ lastword$"),
    "3 MB of &": ("&" * 3_000_000 + " lastword", r"/^&+ lastword$"),
    "3 MB of comments": ("<!---->" * 400_000 + "lastword", "lastword"),
    "a comment in a comment in …": ("<p>one" + "<!--" * 700_000, "one"),
    "3 MB of slashes": ("<p>one<a " + "/" * 3_000_000, "one"),
    "quotes never closed": ("<p>one" + "<a x='" * 500_000, "one"),
    "doctypes": ("<p>one" + "<!DOCTYPE " * 300_000, "one"),
    "noframes in noframes": ("<p>one" + "<noframes>" * 300_000, "one"),
    "names that nobody knows": ("".join(f"<x{i}>a</x{i}>" for i in range(50_000)), "a" * 50_000),
    "NUL": ("<p>first\0second<p>third\0<b>four</b>", "firstsecond\nthirdfour"),
    "controls": ("<p>first\x01second\x1f<p>third \x7f<b>four</b>", "firstsecond\nthird four"),
    "references to nothing": ("<p>first &#xD800; &#0; &#x110000; &#1; &#x80;<p>third", "first � � � €\nthird"),
    "a script never closed": ("<p>one<script>var x='<p>no'", "one"),
    "declarations": ("<p>one<![CDATA[two]]>, three<?php echo 1 ?>, four", "one, three, four"),
    "no tags": ("<p>a < b and c <d e> f <3 g </ h> i <>", "a < b and c f <3 g i <>"),
    "a div open in a template": ("<template><li><div>no</li></template><p>after", "after"),
    "templates in templates": ("<p>one" + "<template>no" * 50_000 + "</template>" * 50_000 + "<p>after", "one\nafter"),
    "starts of templates": ("<p>one" + "<template " * 500_000, "one"),
    "a template never closed": ("<p>one<template>two<p>three", "one two\nthree"),
    "markup in a title": ("<title>a <b>b</title><p>after", "after"),
}


@pytest.mark.parametrize(("html", "expected"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_page_is_read_whole_and_in_time(html: str, expected: str) -> None:
    start = time.process_time()
    text = extractor("lxml")(html.encode()).text
    assert time.process_time() - start < MAX_SECONDS
    assert re.search(expected[1:], text, re.DOTALL) if expected.startswith("/") else text == expected


def test_encoded_surrogates_are_replaced() -> None:
    assert extractor("lxml")(b"<p>first \xed\xa0\x80 second<p>third").text == "first \ufffd\ufffd\ufffd second\nthird"


@pytest.mark.parametrize("html", ["<b>" * 600_000 + "</i>" * 600_000, "<i><p></b><li></u><td>" * 100_000])
def test_deeply_nested_stray_end_tags_fail_with_a_reason(monkeypatch: pytest.MonkeyPatch, html: str) -> None:
    """libxml2 needs time in proportion to open tags times stray end tags: ten minutes here without the limit."""
    monkeypatch.setattr(lxml_events, "MAX_SECONDS", 0.5)
    extract = extractor("lxml")
    start = time.process_time()
    with pytest.raises(ExtractError, match=r"^more than 0\.5 s for a page$"):
        extract(html.encode())
    assert time.process_time() - start < MAX_SECONDS
    assert extract(b"<p>next page").text == "next page"


# --- real pages -------------------------------------------------------------------------------------------------------


def in_utf8(body: bytes) -> bytes:
    try:
        body.decode()
    except UnicodeDecodeError:
        return body.decode("cp1252", "replace").encode()
    return body


@pytest.fixture(params=["public", pytest.param("further", marks=pytest.mark.check)])
def real_pages(request: pytest.FixtureRequest) -> dict[str, bytes]:
    """Javadoc in three scripts, and licences; or every fourth of 973 pages of all kinds. All are given by name."""
    if request.param == "public":
        pages = list(public_pages(one_in=8))[::4]
        return {page.url: html for page in pages if isinstance(html := page.html, bytes)}
    unpacked = request.getfixturevalue("unpacked")
    sets = ("article-extraction-benchmark", "trafilatura-eval", "wcxb-dev350")
    paths = sorted(path for name in sets for path in unpacked(name).rglob("*.html"))
    assert len(paths) > 950
    return {path.stem: in_utf8(path.read_bytes()) for path in paths[::4]}


class Words(HTMLParser):
    """Counts the words of a page with another parser and a simpler rule: every tag outside INLINE ends a word."""

    INLINE = re.compile(
        "abbr|acronym|b|bdi|bdo|big|cite|code|del|dfn|em|font|i|ins|kbd|mark|nobr|q|s|samp|small|span|strike|"
        "strong|sub|sup|time|tt|u|var|wbr"
    )
    HIDDEN = ("script", "style", "title", "iframe", "noembed")

    def __init__(self, html: bytes) -> None:
        super().__init__()
        self.parts: list[str] = []
        self.inside = ""
        self.feed(html.decode())
        self.close()
        between_links = "".join(self.parts).replace("</a><a>", "\n")
        self.counted = Counter(WORD.findall(between_links.replace("<a>", "").replace("</a>", "")))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002
        self.inside = tag if tag in self.HIDDEN else self.inside
        self.boundary(tag, "<a>")

    def handle_endtag(self, tag: str) -> None:
        self.inside = "" if tag == self.inside else self.inside
        self.boundary(tag, "</a>")

    def boundary(self, tag: str, link: str) -> None:
        if tag == "a":
            self.parts.append(link)
        elif not self.INLINE.fullmatch(tag) and "-" not in tag and ":" not in tag:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.inside:
            self.parts.append(data)


# Pages on which the two parsers may differ by more than 2 % of the words. 0667 was encoded twice, as UTF-8 mistaken for
# Latin-1: its apostrophes became C1 control characters, which the extractor drops.
EXPLAINED = {"0667"}


@pytest.mark.check
def test_no_word_is_lost_glued_or_split_on_real_pages(real_pages: dict[str, bytes]) -> None:
    extract = extractor("lxml")
    total, missing, extra = Counter[str](), Counter[str](), Counter[str]()
    for name, html in real_pages.items():
        html = re.sub(rb"(?is)<textarea.*?</textarea>", b"", html)  # the other parser reads markup in it
        expected = Words(html).counted
        found = Counter(WORD.findall(extract(html).text))
        lost, added = expected - found, found - expected
        total[name], missing[name], extra[name] = (each.total() for each in (expected, lost, added))
    assert missing.total() < 0.001 * total.total()
    assert extra.total() < 0.001 * total.total()
    assert {name for name in total if max(missing[name], extra[name]) > 0.02 * total[name]} <= EXPLAINED


def test_the_text_does_not_depend_on_how_a_page_is_fed(real_pages: dict[str, bytes]) -> None:
    parser = etree.HTMLParser(target=VisibleText(), encoding="utf-8", huge_tree=True)
    for place, html in enumerate(real_pages.values()):
        for start in range(0, len(html), 997 + place):
            parser.feed(html[start : start + 997 + place])
        assert parser.close() == etree.fromstring(html, parser)


@pytest.mark.check
def test_the_main_text_chosen_by_annotators_is_extracted(unpacked: Callable[[str], Path]) -> None:
    """Compares runs of five words. Missing are only words that annotators changed, and text that scripts generate."""
    articles, pages = unpacked("article-extraction-benchmark"), unpacked("wcxb-dev350")
    truths = json.loads((articles / "ground-truth.json").read_text(encoding="utf-8"))
    bodies = {articles / "html" / f"{name}.html": page["articleBody"] for name, page in truths.items()}
    contents = {}
    for path in (pages / "ground-truth").glob("*.json"):
        truth = json.loads(path.read_text(encoding="utf-8"))["ground_truth"]
        contents[pages / "html" / f"{path.stem}.html"] = truth["main_content"] or ""
    assert mean_share_found(bodies) > 0.99  # measured: 0.9913
    assert mean_share_found(contents) > 0.95  # measured: 0.9515


def mean_share_found(truths: dict[Path, str]) -> float:
    extract = extractor("lxml")
    shares = []
    for path, truth in truths.items():
        if wanted := five_word_runs(truth):
            found = set(five_word_runs(extract(in_utf8(path.read_bytes())).text))
            shares.append(sum(run in found for run in wanted) / len(wanted))
    return sum(shares) / len(shares)


def five_word_runs(text: str) -> list[tuple[str, ...]]:
    words = WORD.findall(text)
    return list(zip(*(words[i:] for i in range(5)), strict=False))
