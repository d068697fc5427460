"""How often the relationship of two texts is the right one: on texts made from real pages, and on labelled pages."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from random import Random
from statistics import mean
from typing import NamedTuple, get_args
from unittest.mock import patch

from benchmarks.table import Run, Table
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries import relationship
from opensearch_winnow.queries.compare import Comparison, compare
from opensearch_winnow.queries.relationship import Kind
from tests.public_pages import LUCENE, javadoc, licences
from tests.quality.corpora import Unpacked, answers, articles, html_pages, records
from tests.quality.related_texts import agrees, related_texts

KINDS: tuple[Kind, ...] = get_args(Kind)
OTHER_PAIRS = 2_000  # pairs of pages with different names
THRESHOLDS = {  # the values that are tried for each
    "SMALL_EDITS": [each / 100 for each in range(70, 100, 2)],
    "REORGANISED": [each / 100 for each in range(40, 100, 2)],
    "REVISED": [each / 100 for each in range(11, 70, 2)],
    "MOVED": [each / 100 for each in range(2, 50, 2)],
    "WHOLE": [each / 100 for each in range(50, 100, 2)],
    "SHORTER": [each / 100 for each in range(50, 100, 2)],
    "PART": [each / 100 for each in range(3, 40, 2)],
    "PART_WORDS": [float(each) for each in range(30, 400, 20)],
}
AS_GOOD = 0.002  # difference of two agreements that is chance


class Labelled(NamedTuple):
    label: str
    comparison: Comparison


def tables(run: Run) -> Iterator[Table]:
    with unpacked_data() as unpacked:
        manual = records(html_pages(unpacked("postgresql-doc-13-15-17"), "https://pg.example"))
        guide = records(html_pages(unpacked("debian-installation-guide-en"), "https://guide.example"))
        pages = made_from(manual, unpacked)
        Random("halves").shuffle(pages)
        pages = pages[: run.size(len(pages), least=40)]
        fitted, tested = (compared(related_texts(half)) for half in (pages[::2], pages[1::2]))
        elsewhere = compared(
            related_texts([*bills(unpacked), *(page.text for page in guide if "/amd64-eb12/" in page.url)])
        )
        yield confusion(
            "Texts made from real pages: what was done, and how it was judged",
            tested,
            f"Right, as the mean of the rows: {agreement(tested):.3f}. The thresholds fit the other half of the pages,"
            f" where it is {agreement(fitted):.3f}. On bills and on a manual that they were not fitted to, it is"
            f" {agreement(elsewhere):.3f}. Different pages may share a template: little in common is right for them.",
        )
        yield thresholds(fitted)
        same_names = {
            "PostgreSQL manual, same page, next release": pairs_by_name(manual),
            "Debian guide, same name, next edition": pairs_by_name(guide),
            "PostgreSQL manual, other page": other_pages(manual),
        }
        yield confusion(
            "Real pages",
            compared((label, a, b) for label, pairs in same_names.items() for a, b in pairs),
            "The same name is not always the same page: a chapter that was split keeps its name, and only its list of"
            " contents. Such pages have little or nothing in common.",
        )
        yield answers_by_label(unpacked)


def made_from(manual: Iterable[Record], unpacked: Unpacked) -> list[str]:
    """Return the texts of one release of two manuals, of licences and of articles."""
    texts = [record.text for record in manual if "/15/" in record.url]
    texts += [record.text for record in records([*javadoc(LUCENE[0], one_in=4), *licences()])]
    return [*texts, *(article.main_text for article in articles(unpacked))]


def bills(unpacked: Unpacked) -> list[str]:
    (path,) = unpacked("policy-bills").rglob("labeled_bills.json")
    return [bill.get("text", "") for bill in json.loads(path.read_text(encoding="utf-8")).values()]


def compared(pairs: Iterable[tuple[str, str, str]]) -> list[Labelled]:
    return [Labelled(label, compare(a, b)) for label, a, b in pairs]


def thresholds(fitted: Sequence[Labelled]) -> Table:
    rows: list[tuple[str, ...]] = []
    for name, values in THRESHOLDS.items():
        scores = {}
        for value in values:
            with patch.object(relationship, name, value):
                scores[value] = agreement(fitted)
        best = max(scores.values())
        ranges = ([value for value, score in scores.items() if score >= best - loss] for loss in (AS_GOOD, 0.01))
        chosen = f"{getattr(relationship, name):g}"
        rows.append((f"`{name}`", chosen, *(f"{min(good):g} to {max(good):g}" for good in ranges)))
    return Table(
        "The thresholds, and how much they matter",
        ("", "value", "best", "cost at most one point"),
        rows,
        "Each threshold alone, on that other half. `PART` also tells copied answers from others, below.",
    )


def pairs_by_name(pages: Iterable[Record]) -> list[tuple[str, str]]:
    """Return the texts of pages with the same name, in successive versions: https://SITE/…VERSION/NAME."""
    versions: dict[str, dict[str, str]] = defaultdict(dict)
    for page in pages:
        *_, version, name = page.url.split("/")
        versions[name][version] = page.text
    return [pair for _, texts in sorted(versions.items()) for pair in pairwise(texts[each] for each in sorted(texts))]


def other_pages(manual: Sequence[Record]) -> list[tuple[str, str]]:
    """Return the texts of pages with different names."""
    random = Random("other pages")
    pairs = (random.sample(manual, 2) for _ in range(2 * OTHER_PAIRS))
    different = ((a.text, b.text) for a, b in pairs if a.url.split("/")[-1] != b.url.split("/")[-1])
    return list(islice(different, OTHER_PAIRS))


def answers_by_label(unpacked: Unpacked) -> Table:
    written = list(answers(unpacked))
    return confusion(
        f"{len(written)} short answers: what students were told to do, and how answer (B) and source (A) are related",
        compared((answer.reuse, answer.source.text or "", answer.text) for answer in written),
        "To copy (cut), to reword a little (light) or a lot (heavy), or not to look at the source (non). Rewording"
        " leaves few passages.",
    )


def confusion(title: str, pairs: Sequence[Labelled], note: str) -> Table:
    counted: dict[str, Counter[str]] = defaultdict(Counter)
    for pair in pairs:
        counted[pair.label][judged(pair)] += 1
    rows = [(label, *(f"{kinds[kind]:,}" if kinds[kind] else "" for kind in KINDS)) for label, kinds in counted.items()]
    return Table(title, ("", *KINDS), rows, note)


def judged(pair: Labelled) -> Kind:
    found = pair.comparison.relationship
    assert found is not None
    return found.kind


def agreement(pairs: Iterable[Labelled]) -> float:
    """Return the share of pairs that were judged right: that of each label, and their mean."""
    by_label = defaultdict(list)
    for pair in pairs:
        by_label[pair.label].append(agrees(pair.label, judged(pair)))
    return mean(mean(each) for each in by_label.values())
