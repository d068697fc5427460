"""The power law of the winnowing paper: how often the k-grams of a collection occur."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, groupby

from benchmarks.papers.part import Check, Part
from benchmarks.papers.plot import Plot, Point
from benchmarks.papers.run import PaperRun
from benchmarks.table import Table, percent
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.operations.upkeep.power_law import power_law

K, W = 50, 100
NEWEST = (
    "lucene.example/9.12.0/",
    "hutool.example/5.8.26/",
    "nablarch.example/2.2.0/",
    "spdx.example/",
    "pg.example/17/",
)
Counts = dict[int, int]  # maps a frequency to how many k-grams have it


def power_law_part(run: PaperRun) -> Part:
    names = ["public"] if run.quick else ["whole", *(["postgresql"] if run.has("postgresql") else [])]
    counted: dict[str, Counts] = {}
    for name in names:
        every = {record.url: canonical_text(record.text).chars for record in run.records(name)}
        newest = [chars for url, chars in every.items() if url.removeprefix("https://").startswith(NEWEST)]
        run.progress(f"{name}, {len(newest)} pages of the newest versions")
        counted[f"`{name}`, newest versions, all hashes"] = counts(all_hashes(newest))
        counted[f"`{name}`, newest versions, fingerprints"] = counts(selected(newest))
        counted[f"`{name}`, all versions, fingerprints"] = counts(selected(every.values()))
    rows = [
        ("paper, all hashes", "82 %", "14 %", "2 %", "–", "−0.7"),
        ("paper, fingerprints", "82 %", "14 %", "2 %", "3,270", "−0.7"),
        *(row(name, each) for name, each in counted.items()),
    ]
    hashes, prints = (counted[f"`{names[0]}`, newest versions, {kind}"] for kind in ("all hashes", "fingerprints"))
    curves = {f"{name.replace('`', '')}": [*curve(each)] for name, each in counted.items() if names[0] in name}
    top = max(prints)
    curves["slope −0.7, as in the paper"] = [(1, top), (top ** (1 / 0.7), 1)]
    return Part(
        "Figure 4: the power law",
        "The paper counts how often each k-gram occurs on 20,000 Web pages, and plots the frequency over the rank: a"
        " line of slope −0.7 on logarithmic axes, the same for all hashes and for the fingerprints. Shares depend on"
        " how much a collection repeats itself. Manuals in one version repeat their templates; in three versions,"
        " nearly all else, too.",
        Table(
            "K-grams by frequency",
            ("", "occur once", "twice", "three times", "most frequent", "slope"),
            rows,
            "The slope is fitted to both ends of each plateau, as in the paper. The paper left out a plateau of its"
            " data that it held to be an artefact; here, nothing is left out.",
        ),
        Plot("winnowing-frequencies", "Frequency over rank", "rank", "frequency", curves, log_x=True, log_y=True),
        checks=(
            # What the paper observed: the fingerprints are a fair sample of all hashes.
            Check(
                "share of fingerprints that occur once, minus that of all hashes",
                once(prints) - once(hashes),
                -0.05,
                0.05,
            ),
            Check("share of fingerprints that occur once", once(prints), 0.6, 0.95),
        ),
    )


def selected(texts: Iterable[str]) -> Iterator[int]:
    return chain.from_iterable(fingerprints(chars, K, W)[0] for chars in texts)


def all_hashes(texts: Iterable[str]) -> Iterator[int]:
    return chain.from_iterable(kgram_hashes(chars, K) for chars in texts)


def counts(hashes: Iterable[int]) -> Counts:
    """Count frequencies by sorting, which takes less memory than a table of millions of k-grams."""
    return dict(sorted(Counter(sum(1 for _ in same) for _, same in groupby(sorted(hashes))).items()))


def once(counted: Counts) -> float:
    return counted[1] / sum(counted.values())


def row(name: str, counted: Counts) -> tuple[str, ...]:
    total, law = sum(counted.values()), power_law(counted)
    shares = (percent(counted.get(times, 0) / total) for times in (1, 2, 3))
    slope = "–" if law is None or law.rank_slope is None else f"{law.rank_slope:.2f}".replace("-", "−")
    return name, *shares, f"{max(counted):,}", slope


def curve(counted: Counts) -> Iterator[Point]:
    """Yield rank and frequency at both ends of each plateau, as the paper plots them."""
    rank = 1
    for frequency, kgrams in sorted(counted.items(), reverse=True):
        yield rank, frequency
        yield rank + kgrams - 1, frequency
        rank += kgrams
