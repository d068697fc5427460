"""The real pages that quality is measured on, with their labels. None of them is in the repository.

Every clone downloads `PUBLIC` and `WHOLE`. The other pages are in the folder named by WINNOW_DATA.
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

Unpacked = Callable[[str], Path]  # takes the name of a data set, returns the folder it was unpacked to

MANUALS = (  # two manuals and a site of licences: name of the data set, address of the site
    ("postgresql-doc-13-15-17", "https://pg.example"),
    ("spdx-license-pages", "https://spdx.example"),
    ("debian-installation-guide-en", "https://guide.example"),
)
STATES = Path("petclinic", "crawl-petclinic-60min")  # inside its data set


class Corpus(NamedTuple):
    """Pages that quality floors were measured on. The digest tells whether they are still the same."""

    name: str
    pages: Callable[[Any], Iterator[Page]]  # takes `Unpacked`, which only pages from WINNOW_DATA need
    digest: str
    site: str  # a site with several versions of its pages, to search in
    fast_clusters: float  # lowest F1 of pairs in one cluster when only bands are compared
    queries: int = 40  # number of searches
    question_stride: int = 1  # every how many-th page is used as a question


class Article(NamedTuple):
    """A page, and the main text that a person marked on it."""

    page: Page
    main_text: str


class Answer(NamedTuple):
    """A student's answer and its source."""

    source: Page
    text: str
    reuse: str  # the instruction: copy (cut), reword a little (light) or a lot (heavy), do not look at the source (non)


def public_pages(one_in: int) -> Iterator[Page]:
    """Yield Javadoc in English, Chinese and Japanese, in two or three releases each, and licences.

    `one_in` thins out the largest site: 4 keeps every fourth page, 2,111 pages in all; 1 keeps all 4,463.
    """
    return chain(javadoc(*LUCENE, one_in=one_in), javadoc(*HUTOOL), javadoc(*NABLARCH), licences())


def manuals(unpacked: Unpacked) -> Iterator[Page]:
    """Yield three versions of one manual, eight editions of another, and the licences of one site: 4,920 pages."""
    for name, site in MANUALS:
        yield from html_pages(unpacked(name), site)


PUBLIC = Corpus(
    name="public",
    pages=lambda _: public_pages(one_in=4),
    digest="1786216a104b50cf35bd65575854ac1e",
    site="lucene.example",
    fast_clusters=0.98,
    queries=25,
    question_stride=8,
)
WHOLE = Corpus(
    name="whole",
    pages=lambda _: public_pages(one_in=1),
    digest="a2b218e42de56628dfdf8d715ca6d408",
    site="lucene.example",
    fast_clusters=0.98,
    queries=40,
    question_stride=6,
)
FURTHER = Corpus(
    name="further",
    pages=manuals,
    digest="0d1e7f74fd019dcd246c3191b266e3f4",
    site="pg.example",
    fast_clusters=0.995,
    question_stride=4,
)


def html_pages(folder: Path, site: str) -> Iterator[Page]:
    for path in sorted(folder.rglob("*.html")):
        yield Page(f"{site}/{path.relative_to(folder).as_posix()}", html=path.read_bytes())


def web_app_states(unpacked: Unpacked) -> tuple[list[Page], dict[tuple[str, str], bool]]:
    """Return 149 states of a web application, and for each pair of URLs whether a person called them the same page."""
    folder = unpacked("ndstudy-petclinic") / STATES
    labels = json.loads((folder / "gs" / "gsResults.json").read_text(encoding="utf-8"))
    paths = (folder / "doms" / f"{name}.html" for name in sorted(labels["states"]))
    pages = [Page(_state(path.stem), html=path.read_bytes()) for path in paths]
    # 0 is a clone, 1 a near-duplicate, 2 something else.
    return pages, {(_state(p["state1"]), _state(p["state2"])): p["response"] < 2 for p in labels["pairs"]}


def _state(name: str) -> str:
    return f"https://clinic.example/{name}"


def articles(unpacked: Unpacked) -> Iterator[Article]:
    """Yield the 531 pages of two benchmarks of text extraction."""
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
    """Yield 95 short answers to five questions, each with the article that it may have been copied from."""
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
    """Return the records of the pages that have text."""
    maker = RecordMaker(Recipe(scheme=scheme))
    made = map(maker.make, pages)
    return [record for record in made if isinstance(record, Record)]


def digest(corpus: Iterable[Record], labels: Iterable[str] = ()) -> str:
    """Return a digest that changes with the canonical text of any page, and with any label."""
    lines = sorted(f"{record.url} {record.hashes.text_digest}" for record in corpus)
    return sha256("\n".join([*lines, *labels]).encode()).hexdigest()[:32]


def check_digest(actual: str, pinned: str) -> None:
    """Fail if the corpus is not the one that the floors were measured on."""
    assert actual == pinned, (
        f"the floors were measured on another corpus: its digest was {pinned}, and is now {actual}. Either the data or"
        " the extraction of canonical text has changed. Measure again (python -m benchmarks quality), then pin the new"
        " digest and floors"
    )
