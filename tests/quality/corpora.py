"""The pages that quality is measured on: real ones, with what is known about them. They stay outside the repository.

`PUBLIC` and `WHOLE` are fetched by every clone; the others are in the folder that WINNOW_DATA names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from tests.public_pages import HUTOOL, LUCENE, NABLARCH, javadoc, licences

Unpacked = Callable[[str], Path]  # a set of data by its name → the folder where it lies

MANUALS = (  # and licences
    ("postgresql-doc-13-15-17", "https://pg.example"),
    ("spdx-license-pages", "https://spdx.example"),
    ("debian-installation-guide-en", "https://guide.example"),
)
STATES = Path("petclinic", "crawl-petclinic-60min")


class Corpus(NamedTuple):
    """Pages that floors were measured on, and the digest that tells whether they are still the same."""

    name: str
    pages: Callable[[Any], Iterator[Page]]  # of `Unpacked`, for what WINNOW_DATA has
    digest: str
    site: str  # one that has versions of its pages, for searches
    fast_clusters: float  # F1 of pairs in one cluster, where only bands are compared
    queries: int = 200  # that are searched for
    one_in: int = 1  # so many pages is asked about


class Article(NamedTuple):
    """A page, and what somebody took for its main text."""

    page: Page
    main_text: str


class Answer(NamedTuple):
    """What a student wrote, and from which source; told to copy, to reword a little or a lot, or not to look at it."""

    source: Page
    text: str
    reuse: str  # cut, light, heavy or non


def public_pages(one_in: int) -> Iterator[Page]:
    """Javadoc in English, Chinese and Japanese, in two or three releases each, and licences.

    Of the largest site, one page in so many: 2,111 pages with one in four, 4,463 with all.
    """
    return chain(javadoc(*LUCENE, one_in=one_in), javadoc(*HUTOOL), javadoc(*NABLARCH), licences())


def manuals(unpacked: Unpacked) -> Iterator[Page]:
    """Three versions of one manual, eight editions of another, and the licences of one site: 4,920 pages."""
    for name, site in MANUALS:
        yield from html_pages(unpacked(name), site)


PUBLIC = Corpus(
    name="public",
    pages=lambda _: public_pages(one_in=4),
    digest="1786216a104b50cf35bd65575854ac1e",
    site="lucene.example",
    fast_clusters=0.98,
    queries=25,
    one_in=8,
)
WHOLE = Corpus(
    name="whole",
    pages=lambda _: public_pages(one_in=1),
    digest="a2b218e42de56628dfdf8d715ca6d408",
    site="lucene.example",
    fast_clusters=0.98,
)
KEPT = Corpus(
    name="kept",
    pages=manuals,
    digest="0d1e7f74fd019dcd246c3191b266e3f4",
    site="pg.example",
    fast_clusters=0.995,
)


def html_pages(folder: Path, site: str) -> Iterator[Page]:
    for path in sorted(folder.rglob("*.html")):
        yield Page(f"{site}/{path.relative_to(folder).as_posix()}", html=path.read_bytes())


def web_app_states(unpacked: Unpacked) -> tuple[list[Page], dict[tuple[str, str], bool]]:
    """149 states of one web application; and for each pair of URLs whether a person took them for the same page."""
    folder = unpacked("ndstudy-petclinic") / STATES
    labels = json.loads((folder / "gs" / "gsResults.json").read_text(encoding="utf-8"))
    pages = [
        Page(_state(name), html=(folder / "doms" / f"{name}.html").read_bytes()) for name in sorted(labels["states"])
    ]
    # 0 is a clone, 1 a near-duplicate, 2 something else.
    return pages, {(_state(p["state1"]), _state(p["state2"])): p["response"] < 2 for p in labels["pairs"]}


def _state(name: str) -> str:
    return f"https://clinic.example/{name}"


def articles(unpacked: Unpacked) -> Iterator[Article]:
    """531 pages of two benchmarks of text extraction."""
    folder = unpacked("article-extraction-benchmark")
    labels = json.loads((folder / "ground-truth.json").read_text(encoding="utf-8"))
    for page in html_pages(folder / "html", "https://articles.example"):
        yield Article(page, labels[_stem(page)]["articleBody"])
    folder = unpacked("wcxb-dev350")
    for page in html_pages(folder / "html", "https://web.example"):
        label = json.loads((folder / "ground-truth" / f"{_stem(page)}.json").read_text(encoding="utf-8"))
        yield Article(page, label["ground_truth"]["main_content"] or "")


def _stem(page: Page) -> str:
    return page.url.rsplit("/", 1)[1].removesuffix(".html")


def answers(unpacked: Unpacked) -> Iterator[Answer]:
    """95 short answers to five questions, each with the article that it may have been copied from."""
    folder = unpacked("clough-stevenson")
    for line in (folder / "all-plagiarised-files.txt").read_text(encoding="utf-8").split():
        source, answer, reuse = line.split(",")
        page = Page(f"https://source.example/{source}", text=_read(folder / source))
        yield Answer(page, _read(folder / answer), reuse)


def _read(path: Path) -> str:
    raw = path.read_bytes()
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return raw.decode("cp1252")


def records(pages: Iterable[Page], scheme: Scheme = Scheme()) -> list[Record]:
    """Of those that have a text."""
    maker = RecordMaker(Recipe(scheme=scheme))
    made = map(maker.make, pages)
    return [record for record in made if isinstance(record, Record)]


def digest(corpus: Iterable[Record], labels: Iterable[str] = ()) -> str:
    """The same as long as pages have the same canonical text, and the labels are the same."""
    lines = sorted(f"{record.url} {record.text_digest}" for record in corpus)
    return sha256("\n".join([*lines, *labels]).encode()).hexdigest()[:32]


def check(found: str, pinned: str) -> None:
    """Floors hold for the corpus that they were measured on."""
    assert found == pinned, (
        f"the corpus is not the one that these floors were measured on: its digest is {found}, not {pinned}. The data"
        " has changed, or what makes canonical text of it. Measure again (python -m benchmarks quality), and pin the"
        " new digest with the floors"
    )
