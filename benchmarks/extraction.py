"""From HTML to text on real pages, compared with peers: speed, how much of the hand-labelled main text is found, and
how many words were wrongly glued together."""

from __future__ import annotations

import html as markup
import re
import warnings
from collections import Counter
from dataclasses import dataclass
from functools import cache, partial
from importlib import import_module
from itertools import pairwise
from typing import TYPE_CHECKING

from lxml import etree, html as lxml_html

from benchmarks.corpus import DATA
from benchmarks.crawled_pages import crawled_pages
from benchmarks.peers.missing import available
from benchmarks.table import Run, Table
from benchmarks.timing import alternate
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.ingest.encoding import encoding_of, to_utf8
from opensearch_winnow.ingest.extractors import extractor
from tests.quality.corpora import articles, html_pages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Extract = Callable[[bytes], str]

UNLABELLED = "trafilatura-eval"  # pages without a hand-labelled main text
PAGES = 973  # all, with and without one
TIMED = 6  # every sixth page is timed, or slow extractors would take ten minutes
MODULES = ("argparse", "ast", "asyncio", "collections", "decimal", "email.message", "http.client", "json", "pathlib")
INVISIBLE = re.compile(r"<(script|style|title)\b.*?</\1\s*>|<!--.*?-->|<[^>]*>", re.DOTALL | re.IGNORECASE)
WORD = re.compile(r"\w+")
SCRIPT = re.compile(r"<(script|style)\b.*?</\1\s*>|<!--.*?-->", re.DOTALL | re.IGNORECASE)
EMPHASIS = r"</?(?:b|i|em|strong|u|mark)(?:\s[^<>]*)?>"
EMPHASISED = re.compile(rf"\w+(?:(?:{EMPHASIS})+\w+)+")
SHINGLE = 5


@dataclass(frozen=True, slots=True)
class Sample:
    html: bytes  # in UTF-8
    truth: str = ""  # the main text, as labelled by a person

    @property
    def words_of_nodes(self) -> set[str]:
        """The words between two tags, as found by an HTML parser or by a regular expression."""
        tree = etree.fromstring(self.html, etree.HTMLParser(encoding="utf-8", huge_tree=True))
        nodes = [] if tree is None else tree.xpath("//text()[not(parent::script or parent::style)]")
        plain = markup.unescape(INVISIBLE.sub("\n", self.html.decode("utf-8", "replace")))
        return {word for text in (plain, *nodes) for word in WORD.findall(text)}

    @property
    def words_with_emphasis(self) -> list[list[str]]:
        """The parts of each word that is bold or otherwise emphasised only in part."""
        visible = SCRIPT.sub(" ", self.html.decode("utf-8", "replace"))
        return [WORD.findall(re.sub(EMPHASIS, " ", word)) for word in EMPHASISED.findall(visible)]


@cache
def samples(count: int) -> list[Sample]:
    if not DATA.is_dir():
        return [Sample(page) for page in crawled_pages(20_000 * count)][:count]
    with unpacked_data() as unpacked:
        labelled = [(article.page, article.main_text) for article in articles(unpacked)]
        plain = [(page, "") for page in html_pages(unpacked(UNLABELLED), "https://news.example")]
    found = {page.url.rpartition("/")[2].removesuffix(".html"): (page.html, truth) for page, truth in labelled + plain}
    some = [each for _, each in sorted(found.items())[:: max(1, len(found) // count)]][:count]
    return [Sample(to_utf8(html, encoding_of(html)), truth) for html, truth in some if isinstance(html, bytes)]


# --- the candidates ---------------------------------------------------------------------------------------------------


def named(name: str) -> Extract:
    try:
        extract = extractor(name)
    except Exception as error:
        raise ImportError(name) from error
    return lambda html: extract(html).text


def tree_as_text() -> Extract:
    def extract(html: bytes) -> str:
        tree = etree.fromstring(html, etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True))
        return "" if tree is None else str(etree.tostring(tree, method="text", encoding="unicode"))

    return extract


def text_content() -> Extract:
    def extract(html: bytes) -> str:
        parser = lxml_html.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True)
        tree = lxml_html.document_fromstring(html, parser=parser)
        etree.strip_elements(tree, "script", "style", with_tail=False)
        return str(tree.text_content())

    return extract


def soup(builder: str) -> Extract:
    from bs4 import BeautifulSoup  # noqa: PLC0415

    def extract(html: bytes) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return BeautifulSoup(html.decode("utf-8", "replace"), builder).get_text()

    return extract


def resiliparse() -> Extract:
    extract_plain_text = import_module("resiliparse.extract.html2text").extract_plain_text
    return lambda html: str(extract_plain_text(html.decode("utf-8", "replace"), main_content=False))


def selectolax() -> Extract:
    parse = import_module("selectolax.lexbor").LexborHTMLParser

    def extract(html: bytes) -> str:
        tree = parse(html)
        tree.strip_tags(["script", "style"])
        return str(tree.text(separator="\n"))

    return extract


OURS = "lxml events (ours)"
BASE = "lxml tree, tostring(method='text')"
CANDIDATES: dict[str, Callable[[], Extract]] = {
    OURS: partial(named, "lxml"),
    BASE: tree_as_text,
    "lxml tree, text_content()": text_content,
    "resiliparse": resiliparse,
    "selectolax, text(separator)": selectolax,
    "beautifulsoup (ours)": partial(named, "beautifulsoup"),
    "BeautifulSoup on lxml, get_text()": partial(soup, "lxml"),
    "BeautifulSoup on html.parser, get_text()": partial(soup, "html.parser"),
    "trafilatura, main text (ours)": partial(named, "trafilatura"),
}

# --- quality ---------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Quality:
    pages: int = 0
    words_found: float = 0
    shingles_found: float = 0
    lost: int = 0
    words: int = 0
    joined: int = 0
    whole: int = 0
    split: int = 0

    def add(self, sample: Sample, nodes: set[str], parts: list[list[str]], text: str) -> None:
        words = WORD.findall(text)
        self.words += len(words)
        self.joined += sum(word not in nodes for word in words)
        if parts:
            found_words, pairs = set(words), set(pairwise(words))
            self.whole += sum("".join(each) in found_words for each in parts)
            self.split += sum("".join(each) not in found_words and (each[0], each[1]) in pairs for each in parts)
        truth = WORD.findall(sample.truth)
        if len(truth) >= SHINGLE:
            found = (Counter(truth) & Counter(words)).total() / len(truth)
            shingles = set(zip(*(words[i:] for i in range(SHINGLE)), strict=False))
            wanted = list(zip(*(truth[i:] for i in range(SHINGLE)), strict=False))
            self.pages += 1
            self.words_found += found
            self.shingles_found += sum(shingle in shingles for shingle in wanted) / len(wanted)
            self.lost += found < 0.5

    def cells(self) -> tuple[str, str, str, str, str]:
        pages = max(1, self.pages)
        shares = (f"{self.words_found / pages:.3f}", f"{self.shingles_found / pages:.3f}", str(self.lost))
        split = f"{self.split} of {self.split + self.whole}"
        return (*(shares if self.pages else ("", "", "")), f"{self.joined / max(1, self.words) * 1000:.2f}", split)


def qualities(extractors: dict[str, Extract], pages: list[Sample]) -> dict[str, Quality]:
    found = {name: Quality() for name in extractors}
    for sample in pages:
        nodes, parts = sample.words_of_nodes, sample.words_with_emphasis
        for name, extract in extractors.items():
            found[name].add(sample, nodes, parts, attempt(extract, sample.html))
    return found


def attempt(extract: Extract, html: bytes) -> str:
    try:
        return extract(html)
    except Exception:  # a page that a peer cannot parse counts as lost
        return ""


def of_all(extract: Extract, pages: list[Sample]) -> None:
    for sample in pages:
        attempt(extract, sample.html)


def tables(run: Run) -> Iterator[Table]:
    pages = samples(run.size(PAGES, least=3))
    extractors, missing = available(CANDIDATES)
    timed = pages[::TIMED]
    size = sum(len(sample.html) for sample in timed)
    candidates = {name: partial(of_all, extract, timed) for name, extract in extractors.items()}
    seconds = alternate(candidates, rounds=1)
    fast = {name: candidates[name] for name, taken in seconds.items() if taken < 3 * seconds[BASE]}
    seconds |= alternate(fast, rounds=12)
    quality = qualities(extractors, pages)
    with_truth = sum(bool(sample.truth) for sample in pages)
    rows = [
        (name, f"{size / seconds[name] / 1e6:.1f}", f"{seconds[name] / seconds[BASE]:.2f}", *quality[name].cells())
        for name in extractors
    ]
    yield Table(
        "HTML in UTF-8 → text",
        ("", "MB/s", "time / tostring", "words found", "5 words found", "pages lost", "joined ‰", "split"),
        rows,
        f"Aim: time at most 1.12. {len(pages)} pages, every {TIMED}th timed. Found: the share of the hand-labelled "
        f"main text of {with_truth} pages; lost: pages with less than half of it. Joined: words per thousand that are "
        "in no text node; those with a bold letter inside are right, all others were glued together. Split: words with "
        "a bold letter inside that came out as two.",
        missing,
    )
