"""The quality of answers on real pages; tests/quality checks that these figures stay above their floors."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from benchmarks.table import Run, Table
from benchmarks.unpacked_data import real_records, unpacked_data
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from tests.quality.corpora import Unpacked, answers, articles, web_app_states
from tests.quality.measured import (
    LEAST,
    REUSE,
    SHORT,
    ZONE,
    area,
    beside_labels,
    beside_truth,
    best_threshold,
    in_source,
    main_texts,
    near_duplicates,
)
from tests.quality.truth import truth_about

SCHEMES = (Scheme(), Scheme(noise=20, guarantee=40, shingle=5), SHORT)


def tables(run: Run) -> Iterator[Table]:
    yield near_duplicate_pages(every=max(1, round(1 / run.scale)))
    with unpacked_data() as unpacked:
        yield states(unpacked)
        yield main_text_pages(unpacked)
        yield reuse(unpacked)


@contextmanager
def store(pages: Iterable[Page], scheme: Scheme = Scheme()) -> Iterator[Index]:
    with (
        TemporaryDirectory(prefix="winnow-bench-") as folder,
        Index.open(Path(folder, "q.winnow"), scheme=scheme) as index,
    ):
        index.add(pages)
        yield index


def shown(scheme: Scheme) -> str:
    return f"k = {scheme.k}, t = {scheme.t}, {scheme.shingle} words"


def near_duplicate_pages(every: int) -> Table:
    corpus = real_records()
    start = time.process_time()
    truth = truth_about(corpus, Scheme(), ZONE[0]).resemblances
    taken = time.process_time() - start
    urls = [record.url for record in corpus][::every]
    rows = []
    with store(Page(each.url, text=each.text, title=each.title) for each in corpus) as index:
        for name, exact in ("exact", True), ("estimate", False):
            start = time.process_time()
            found = near_duplicates(index, urls, exact=exact)
            seconds = time.process_time() - start
            quality = beside_truth(found, truth, urls)
            errors = [abs(score - truth.get(pair, 0.0)) for pair, score in found.items()]
            rows.append(
                (
                    name,
                    f"{quality.recall:.4f}",
                    f"{quality.precision:.4f}",
                    f"{max(errors, default=0.0):.3f}",
                    f"{seconds / len(urls) * 1e3:.1f}",
                )
            )
    return Table(
        f"Near-duplicates (≥ .5) of {len(urls):,} of {len(corpus):,} pages",
        ("", "recall", "precision", "largest error of a score", "CPU ms a question"),
        rows,
        f"Aim: .99 each, .97 by estimate. Compared with the exact resemblance of all pairs, which takes"
        f" {taken:.0f} s; pairs from {ZONE[0]} to {ZONE[1]} do not count.",
    )


def states(unpacked: Unpacked) -> Table:
    pages, labels = web_app_states(unpacked)
    rows = []
    for scheme in SCHEMES:
        with store(pages, scheme) as index:
            found = near_duplicates(index, [page.url for page in pages], LEAST)
        for threshold, quality in best_threshold(found, labels), (0.5, beside_labels(found, labels, 0.5)):
            figures = (f"{figure:.3f}" for figure in (quality.recall, quality.precision, quality.f1))
            rows.append((shown(scheme), f"{threshold:.2f}", *figures))
    return Table(
        f"{len(pages)} states of a web application, by hand labels of {len(labels):,} pairs",
        ("", "resemblance", "recall", "precision", "F1"),
        rows,
        "For each scheme, the best threshold and .5. Labels describe the function of a page, whatever data it shows.",
    )


def main_text_pages(unpacked: Unpacked) -> Table:
    labelled = list(articles(unpacked))
    rows = []
    with store(article.page for article in labelled) as index:
        for least in (0.0, 0.1, 0.5):
            outcomes = main_texts(index, labelled, least)
            asked = outcomes.total() - outcomes["no main text"]
            others = (outcomes[name] for name in ("not first", "not found", "cannot be asked", "no main text"))
            rows.append((f"{least:g}", f"{outcomes['first'] / asked:.4f}", f"{outcomes['first']}", *map(str, others)))
    return Table(
        f"The main text of {len(labelled)} pages, as other people took it, finds its page",
        (
            "min_containment",
            "first, of those asked",
            "first",
            "not first",
            "not found",
            "cannot be asked",
            "no main text",
        ),
        rows,
        "Aim: .99 at .1. Four are never found: the main text of two is written by a script, that of one is only in a"
        " meta tag, and one has 64 letters but shares no ten words in a row with its page.",
    )


def reuse(unpacked: Unpacked) -> Table:
    written = list(answers(unpacked))
    sources = {answer.source.url: answer.source for answer in written}
    rows = []
    for scheme in SCHEMES:
        scores = defaultdict(list)
        with store(sources.values(), scheme) as index:
            for answer in written:
                scores[answer.reuse].append(in_source(index, answer))
        copied = scores["cut"] + scores["light"] + scores["heavy"]
        medians = (f"{median(scores[name]):.3f}" for name in REUSE)
        rows.append((shown(scheme), *medians, f"{area(copied, scores['non']):.3f}"))
    return Table(
        f"{len(written)} short answers: how much of each is in its source (median)",
        ("", *REUSE, "area under ROC, copied / non"),
        rows,
        "Students were told to copy (cut), to reword (light, heavy), or not to look at the source (non).",
    )
