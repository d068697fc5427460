"""winnow compare --html: one file without scripts, in which the passages are marked."""

from __future__ import annotations

import base64
import hashlib
import re
import time
from collections import Counter, defaultdict
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow import Scheme, compare
from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.cli.asking.side_by_side import SideBySide
from opensearch_winnow.cli.terminal import Terminal
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.scores import Passage
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate
from opensearch_winnow.types import Comparison
from opensearch_winnow.web.compare_html import compare_html
from opensearch_winnow.web.texts.marked_text import (
    BLOCK_CHARS,
    MAX_EXTRA_LINE_CHARS,
    MAX_PASSAGES_NAMED,
    MAX_UNFOLDED_CHARS,
    Marking,
    marked_text,
)
from tests.cli.conftest import Prose, Winnow

VOID_ELEMENTS = {"meta", "rect"}
A, B = Marking(own="p", partner="b"), Marking(own="b", partner="p")


class Page(HTMLParser):
    """Parses a page into the texts of A and B, the text of each passage, and other parts that the tests need."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.tags: Counter[str] = Counter()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.attributes: set[str] = set()
        self.texts: list[str] = []
        self.passages: list[dict[int, str]] = []
        self.boilerplate: list[str] = []
        self.words = ""
        self.feed(html)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        self.tags[tag] += 1
        self.attributes |= attributes.keys()
        if tag not in VOID_ELEMENTS:
            self.open.append((tag, attributes))
        if attributes.get("class") == "text":
            self.texts.append("")
            self.passages.append(defaultdict(str))
            self.boilerplate.append("")
        if name := attributes.get("id"):
            assert name not in self.ids
            self.ids.add(name)
        if link := attributes.get("href"):
            self.links.add(link)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID_ELEMENTS:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        tags = [tag for tag, _ in self.open]
        if "style" not in tags:
            self.words += data
        classes = [(tag, attributes.get("class") or "") for tag, attributes in self.open]
        number = any(name.startswith("n") for tag, name in classes if tag in ("a", "span"))
        if number or "summary" in tags or all(name != "text" for _, name in classes):
            return
        self.texts[-1] += data
        if any(name == "boilerplate" for _, name in classes):
            self.boilerplate[-1] += data
        for tag, attributes in self.open:
            if tag == "mark":
                for name in (attributes["data-passages"] or "").split():
                    self.passages[-1][int(name)] += data


def compared(a: str, b: str, both: Comparison, scheme: Scheme | None = None) -> Compared:
    one, other = (ComparedText(id=name, text=text, title=name) for name, text in (("a", a), ("b", b)))
    return Compared.of(one, other, both, scheme or Scheme())


def page_of(a: str, b: str, scheme: Scheme | None = None, boilerplate: str = "") -> tuple[str, Page]:
    scheme = scheme or Scheme()
    both = compare(a, b, scheme, boilerplate=[Boilerplate("licence", boilerplate)])
    html = compare_html(compared(a, b, both, scheme))
    return html, Page(html)


def test_marks_with_the_same_number_have_the_same_text(winnow: Winnow, pair: tuple[Path, Path]) -> None:
    out = pair[0].with_name("out.html")
    done = winnow("compare", *pair, "--html", out)
    assert (done.exit_code, done.stdout[:7]) == (0, "number\t")
    page = Page(out.read_text(encoding="utf-8"))
    a, b = page.passages
    assert list(a) == sorted(b) == [1, 2, 3]
    for number, text in a.items():
        assert canonical_text(text).chars == canonical_text(b[number]).chars != ""
    assert page.texts == [path.read_text() for path in pair]
    assert page.links <= {f"#{name}" for name in page.ids}
    assert {"p1", "b1", "p3", "b3"} <= page.ids
    assert "3 shared passages, 1 moved" in page.words
    both = compare(*page.texts[:2])  # type: ignore[arg-type]
    assert all(f"{share:.0%}".replace("%", "\xa0%") in page.words for share in (both.resemblance, both.contained))


def test_the_page_is_inert(prose: Prose, tmp_path: Path, winnow: Winnow) -> None:
    hostile = "<script>alert(1)</script> & <img src=x onerror=alert(1)> \"'</div></mark></section><!-- ]]> <style>*{}"
    text = f"{hostile}{prose(30)} {hostile} {prose(30, 2)}\x00\x1b\u202e{hostile}"
    names = [tmp_path / name for name in ("<script>alert(1)<", '"onload="x')]
    for path in names:
        path.write_text(text.replace("/script", "/script "[: 7 + (path == names[0])]))
    winnow("compare", *(str(path) for path in names), "--html", tmp_path / "out.html")
    html = (tmp_path / "out.html").read_text(encoding="utf-8")
    page = Page(html)
    assert not {"script", "img", "link", "iframe", "object", "base", "form", "input"} & page.tags.keys()
    assert not [name for name in page.attributes if name.startswith("on") or name in ("style", "src")]
    assert page.tags["style"] == 1
    assert hostile in page.texts[1]
    assert all(link.startswith("#") for link in page.links)
    assert not re.search("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e]", html)
    assert not re.search(r"url\(|@import|https?:", html.partition("<body")[0])


def test_the_security_policy_allows_only_the_style_of_the_page(prose: Prose) -> None:
    html, _ = page_of(prose(60), prose(60))
    (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]+)">', html)
    (style,) = re.findall(r"<style>(.*?)</style>", html, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
    assert policy == f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'"
    assert '<div class="text" lang="" dir="auto">' in html
    assert "prefers-color-scheme: dark" in style


def test_a_paragraph_that_is_repeated_a_hundred_times(prose: Prose) -> None:
    """A hundred passages begin at one place: all can be jumped to, but only three numbers are shown."""
    shared = prose(60)
    html, page = page_of(shared, " ".join(shared + prose(5, number) for number in range(100)))
    assert {f"{side}{number}" for side in "pb" for number in range(1, 101)} <= page.ids
    assert html.count('class="n more" id="p') == 97
    assert len(page.passages[0]) == MAX_PASSAGES_NAMED
    assert len(page.passages[1]) == 100
    assert page.links <= {f"#{name}" for name in page.ids}


def test_texts_of_every_kind_are_shown_as_a_whole(prose: Prose) -> None:
    shared = prose(60)
    long = f"{prose(2_000, 1)} {shared} {prose(100, 2)}"
    html, page = page_of(long, shared)
    assert (page.tags["details"], page.texts) == (1, [long, shared])
    assert re.search(r"<summary>[\d,]+ characters not shared</summary>", html)
    for a, b in (("", ""), (prose(50, 1), prose(50, 2)), ("", prose(50))):
        _, page = page_of(a, b)
        assert (page.texts, page.tags["mark"], "Nothing shared" in page.words) == ([a, b], 0, True)
    _, page = page_of(f"{shared}\r\nwindows\rold\nunix", shared)
    assert page.texts[0].endswith("\nwindows\nold\nunix")


@pytest.mark.check
def test_megabytes_and_thousands_of_passages_take_seconds(prose: Prose) -> None:
    words = prose(300_000, 5).split()
    shared = [" ".join(words[number : number + 30]) for number in range(0, len(words), 30)]
    a = "\n".join(f"{each}\n{'one' * 100}{number}" for number, each in enumerate(shared))
    b = "\n".join(f"{each}\n{'two' * 100}{number}" for number, each in enumerate(reversed(shared)))
    assert len(a) > 4_900_000
    both = compare(a, b)
    assert len(both.passages) > 9_900
    started = time.process_time()
    html = compare_html(compared(a, b, both))
    assert time.process_time() - started < 10
    assert len(html) < 3 * (len(a) + len(b))


SPANS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 40)), max_size=8)


@given(st.text(st.sampled_from("ab <&\"'\n"), min_size=100, max_size=100), SPANS, SPANS)
def test_every_overlap_is_marked_and_nothing_is_lost(
    text: str, spans: list[tuple[int, int]], grey: list[tuple[int, int]]
) -> None:
    places, grey_places = (sorted((start, start + length) for start, length in each) for each in (spans, grey))
    html = "".join(marked_text(text, dict(enumerate(places, 1)), A, grey_places))
    page = Page(f'<div class="text">{html}</div>')
    assert page.texts == [text]
    assert page.passages[0] == {number: text[start:end] for number, (start, end) in enumerate(places, 1)}
    grey_ats, hidden = ({at for start, end in each for at in range(start, end)} for each in (grey_places, places))
    shown = grey_ats - hidden  # boilerplate is not shown within a passage
    assert page.boilerplate == ["".join(text[at] for at in sorted(shown))]
    assert html.count(">boilerplate<") == sum(at - 1 not in shown for at in shown)


@pytest.mark.parametrize("line", ["word ", "word\n", "nospaces", "0"])
@pytest.mark.parametrize("place", [(0, 30_000), (12_000, 12_500)])
def test_blocks_are_of_bounded_size(line: str, place: tuple[int, int]) -> None:
    text = (line * 30_000)[:30_000]
    html = f'<div class="text">{"".join(marked_text(text, {1: place}, B))}</div>'
    assert Page(html).texts == [text]
    assert Page(html).passages[0] == {1: text[slice(*place)]}
    blocks = [len(re.sub(r"<[^>]+>", "", block)) for block in html.split('<div class="block"')]
    assert max(blocks) <= BLOCK_CHARS + MAX_EXTRA_LINE_CHARS + MAX_UNFOLDED_CHARS


def test_programs_are_shown_in_lines_with_numbers(winnow: Winnow, tmp_path: Path) -> None:
    lines = [f"total{number} = add({number}, total{number - 1})" for number in range(1, 31)]
    a, b, c, page = (tmp_path / name for name in ("a.py", "b.py", "c.txt", "compare.html"))
    a.write_text("import sums\n\n" + "\n".join(lines))
    b.write_text("\n".join(lines) + "\nprint(total30)\n")
    c.write_text("\n".join(lines))
    for preset, unit in (("code", "tokens"), ("pages", "letters and digits")):  # the names say that they are programs
        winnow("compare", a, b, "--preset", preset, "--html", page)
        html = page.read_text()
        assert re.search(rf"passages of \d+ or more {unit} are always found", html)
        assert html.count('<div class="text code"') == 2
        numbers = [int(line) for line in re.findall(r'data-line="(\d+)"', html)]
        assert numbers == [*range(1, 33), *range(1, 32)]
        assert re.search(r'href="#p1"><b>1</b> \d+ lines', html)
    winnow("compare", a, c, "--html", page)
    assert "data-line" not in re.sub(r"<style>.*?</style>", "", page.read_text(), flags=re.DOTALL)


def test_the_footer_promises_nothing_that_the_selection_does_not(prose: Prose) -> None:
    for scheme in (Scheme(selection="mod-p"), Scheme(selection="koala")):
        footer = page_of(prose(60), prose(50), scheme)[1].words
        assert "below 50 letters and digits are never found" in footer
        assert "always" not in footer
        assert "count runs of 10 words; the relationship counts characters in passages." in footer
    assert "count runs of 10 words." in page_of(prose(60, 1), prose(60, 2))[1].words


def test_boilerplate_is_grey_and_has_no_number(prose: Prose) -> None:
    licence, shared = prose(40, 1), prose(40, 2)
    a, b = f"{licence} {prose(30, 3)} {shared}", f"{prose(30, 4)} {shared} {licence} {prose(30, 5)}"
    html, page = page_of(a, b, boilerplate=licence)
    assert page.texts == [a, b]
    assert page.boilerplate == [licence.rstrip(".")] * 2
    assert [list(each) for each in page.passages] == [[1], [1]]
    for said in ("1 shared passage, 1 more run is boilerplate", "boilerplate: 1 run, 40 words", "boilerplate (grey)"):
        assert said in page.words
    assert ('<path class="boilerplate"' in html, page.ids) == (True, {"p1", "b1"})
    _, plain = page_of(a, b)
    assert ("boilerplate" in plain.words, plain.boilerplate) == (False, ["", ""])
    _, alone = page_of(licence, licence, boilerplate=licence)
    assert (alone.boilerplate, alone.tags["mark"]) == ([licence.rstrip(".")] * 2, 0)
    assert "Nothing shared except boilerplate: 1 run" in alone.words


@pytest.mark.parametrize("columns", [40, 100])
def test_boilerplate_on_a_terminal_is_dim(prose: Prose, columns: int) -> None:
    licence = prose(200)
    a, b = f"Before. {licence}", licence.upper()
    found = compared(a, b, Comparison(1, 1, 1, [], [Passage(8, len(a) - 1, 0, len(b) - 1)]))
    (run,) = found.boilerplate
    lines = list(SideBySide(Terminal(columns, colour=True), found).boilerplate(run))
    assert f"boilerplate 200 words · A 8–{len(a) - 1:,} · B 0–{len(b) - 1:,}" in lines[0]
    assert all("\x1b[2m" in line for line in lines if line not in ("\x1b[1mA\x1b[0m", "\x1b[1mB\x1b[0m"))
    assert not any("48;5" in line for line in lines)  # no background
    plain = " ".join(" ".join(SideBySide(Terminal(columns, colour=False), found).boilerplate(run)).split())
    assert " ".join(licence.split()[:3]) in plain
    assert "words …" in plain
    assert "[" not in plain


def test_both_sides_of_the_passage_that_was_jumped_to_are_outlined(prose: Prose) -> None:
    html, _ = page_of(prose(60), prose(60))
    for number in (1, 200):
        assert f":root:has(#p{number}:target, #b{number}:target) .p{number} {{ --on: 2px; }}" in html
    assert html.count(":target) .p") == 200
