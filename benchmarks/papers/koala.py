"""The experiments of the Koala paper: match ratios of all documents against all, with its settings varied."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.koala import stored_bytes
from benchmarks.papers.koala_matching import (
    Collection,
)
from benchmarks.papers.koala_relations import chance_part, larger_database, relations_part, sizes_part
from benchmarks.papers.koala_tables import TABLES
from benchmarks.papers.part import Check, Part
from benchmarks.papers.run import PaperRun
from benchmarks.table import Table
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record

TITLE = "Scalable Document Fingerprinting: Koala (1996)"
INTRODUCTION = """\
Heintze, 1996. Koala stores 100 fingerprints of a document and looks up 1,000 of a question. A fingerprint is the hash
of 20 consonants in a row; those are chosen whose first five letters are rare in the document. The match ratio is the
share of the stored fingerprints that the question has. Fingerprints on four documents or more are left out, but ten at
most, and so are the first 1,000 characters of a document.

The paper's collection is 366 technical reports with 30 MB of text. Here, a collection is the 366 longest pages of a
site in one version: they are as many, but shorter. The manual of PostgreSQL is most like the reports: pages on
different matters by the same authors. Javadoc and licences, the pages that every clone can download, repeat much
more: lists of inherited methods, and families of licences. So compare the paper with `postgresql`, and see in the other
rows what much repetition does. Counts include the match of each document with itself, if there is one; those in
brackets do not."""

DOCUMENTS = 366
MIN_CHARACTERS = 2_000  # of an older version, which loses the first 1,000: some were mere lists of contents


class Site(NamedTuple):
    """A site with the versions of its pages, the newest last. Some sites have one only."""

    corpus: str
    hosts: tuple[str, ...]
    versions: tuple[str, ...]


PUBLIC = Site("whole", ("lucene.example", "spdx.example"), ("9.0.0", "9.6.0", "9.12.0"))
POSTGRESQL = Site("postgresql", ("pg.example",), ("13", "15", "17"))


class Documents(NamedTuple):
    """The longest pages of the newest version, and older versions of them by the number of the document."""

    records: list[Record]
    collection: Collection
    older: dict[str, dict[int, str]]


def parts(run: PaperRun) -> Iterator[Part]:
    sites = [PUBLIC._replace(corpus="public") if run.quick else PUBLIC]
    if run.has("postgresql"):
        sites.insert(0, POSTGRESQL)
    documents = {site.corpus: documents_of(run, site) for site in sites}
    collections = {name: each.collection for name, each in documents.items()}
    first, (_, collection, older) = next(iter(documents.items()))
    for number, table in enumerate(TABLES, 1):
        run.progress(f"table {number} …")
        yield table(collections)
    yield relations_part(first, collection, older, samples=20 if run.quick else 120)
    yield sizes_part(collection, samples=5 if run.quick else 50)
    yield storage(run, {name: each.records for name, each in documents.items()})
    yield chance_part(documents=100 if run.quick else 400)
    yield with_other_sites(run, sites[-1].corpus, documents[first].records)


def documents_of(run: PaperRun, site: Site) -> Documents:
    by_version: dict[str, dict[str, Record]] = {version: {} for version in site.versions}
    for record in run.records(site.corpus):
        host, _, path = record.url.removeprefix("https://").partition("/")
        version, _, name = path.partition("/")
        if host in site.hosts:
            by_version[version if name else site.versions[-1]][f"{host}/{name or path}"] = record
    *older, newest = (by_version[version] for version in site.versions)
    longest = sorted(newest, key=lambda name: (-len(newest[name].text), name))[: 120 if run.quick else DOCUMENTS]
    names = sorted(longest)
    return Documents(
        [newest[name] for name in names],
        Collection([newest[name].text for name in names]),
        {
            f"version {version} for {site.versions[-1]}": {
                number: pages[name].text
                for number, name in enumerate(names)
                if name in pages and len(pages[name].text) >= MIN_CHARACTERS
            }
            for version, pages in zip(site.versions, older, strict=False)
        },
    )


def with_other_sites(run: PaperRun, corpus: str, records: list[Record]) -> Part:
    """Search for documents among the public pages: those of the manual, or without it the licences."""
    own = [record.text for record in records if record.site != "lucene.example"]
    starts = {"Lucene's Javadoc": "https://lucene.example/9.12.0/", "the licences": "https://spdx.example/"}
    others = {
        words: [record.text for record in run.records(corpus) if record.url.startswith(start)]
        for words, start in starts.items()
        if not records[-1].url.startswith(start)
    }
    return larger_database("the manual" if len(others) > 1 else "the licences", own, others)


def storage(run: PaperRun, documents: dict[str, list[Record]]) -> Part:
    rows = [("paper", "366", "100", "400", "", "less than 500")]
    checks = []
    with TemporaryDirectory(prefix="winnow-papers-") as folder:
        for name, records in documents.items():
            urls = {record.url for record in records}
            path = Path(folder, f"{name}.winnow")
            with Index.open(path, scheme=Scheme.preset("koala")) as index:
                index.add(page for page in run.pages(name) if page.url in urls)
                counts = index.statistics().frequencies["fingerprints"]
            prints = sum(on * tokens for on, tokens in counts.items()) / len(urls)
            own, lookup, _ = (each / len(urls) for each in stored_bytes(path))
            rows.append(
                (f"`{name}`", str(len(urls)), f"{prints:.0f}", f"{own:,.0f}", f"{lookup:,.0f}", f"{own + lookup:,.0f}")
            )
            checks.append(Check(f"stored bytes a document, {name}", own + lookup, 100, 700))
    return Part(
        "Section 4: stored bytes of a document",
        "The paper stores 400 bytes of fingerprints for a document, and less than 500 with its address and the index."
        " Here, the file of a store with the preset `koala` is measured: the fingerprints of a page with their"
        " positions, and the index from fingerprints to pages. Texts and words, which the store keeps to show and to"
        " search them, are not counted.",
        Table(
            "Bytes a document",
            ("", "documents", "fingerprints", "fingerprints of a page", "index by fingerprints", "both"),
            rows,
        ),
        checks=tuple(checks),
    )
