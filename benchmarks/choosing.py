"""The effect of k, t, the shingle width and a threshold on real pages: the tables of docs/choosing.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations
from random import Random
from statistics import mean, quantiles

from benchmarks.table import Run, Table, percent
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from tests.quality.corpora import MANUALS, Unpacked, articles, html_pages, records
from tests.quality.truth import Pairs, truth_about

SCHEMES = tuple(
    Scheme(noise=k, guarantee=t) for k, t in ((10, 20), (20, 40), (30, 60), (50, 100), (50, 149), (50, 299))
)
RUNS = (20, 40, 60, 80, 100, 125, 149)  # characters that two texts share
PLANTED = 2_000  # runs of each length
CONTEXT = 1_000  # characters of another text before and after a planted run
WIDTHS = (10, 5, 3)
THRESHOLDS = (0.1, 0.3, 0.5, 0.7, 0.8, 0.9)


def tables(run: Run) -> Iterator[Table]:
    with unpacked_data() as unpacked:
        texts = [canonical(article.main_text, Scheme()).chars for article in articles(unpacked)]
        texts = [text for text in texts if len(text) >= 2 * CONTEXT]
        yield noise(texts)
        yield found_runs(texts, run.size(PLANTED, least=10))
        every = run.scale >= 1
        by_width = {width: named_pairs(unpacked, Scheme(shingle=width)) for width in (WIDTHS if every else WIDTHS[-1:])}
        yield families(by_width)
        yield thresholds(by_width)


def scheme_label(scheme: Scheme) -> str:
    return f"k = {scheme.k}, t = {scheme.t}"


def prints(chars: str, scheme: Scheme) -> set[int]:
    return set(fingerprints(chars, scheme.k, scheme.w)[0])


def noise(texts: Sequence[str]) -> Table:
    """Measure how many fingerprints are stored, and how often unrelated texts share one."""
    pairs = len(texts) * (len(texts) - 1) // 2
    rows = []
    for scheme in SCHEMES:
        kept = [prints(text, scheme) for text in texts]
        having: dict[int, list[int]] = defaultdict(list)
        for number, hashes in enumerate(kept):
            for each in hashes:
                having[each].append(number)
        met = {pair for numbers in having.values() for pair in combinations(numbers, 2)}
        density = sum(map(len, kept)) / sum(map(len, texts))
        rows.append((scheme_label(scheme), f"{1000 * density:.1f}", f"{mean(map(len, kept)):.0f}", f"{len(met):,}"))
    return Table(
        "Fingerprints, and unrelated texts that share one",
        ("", "fingerprints a thousand characters", "a page", f"of {pairs:,} pairs share one"),
        rows,
        f"The hand-labelled main texts of {len(texts)} real pages, with {mean(map(len, texts)):,.0f} letters and digits"
        " each on average. Nearly all are from different sites, and about different subjects.",
    )


def found_runs(texts: Sequence[str], planted: int) -> Table:
    """Measure how often two texts that share only one run have a common fingerprint of it."""
    rows = []
    for scheme in SCHEMES:
        random = Random(0)
        row = [scheme_label(scheme)]
        for length in RUNS:
            shared = 0
            for _ in range(planted):
                one, other, third = random.sample(texts, 3)
                start = random.randrange(len(third) - length)
                run = third[start : start + length]
                a, b = (_around(text, run, random.randrange(CONTEXT)) for text in (one, other))
                shared += bool(prints(a, scheme) & prints(b, scheme) & set(fingerprints(run, scheme.k, 1)[0]))
            row.append(percent(shared / planted))
        rows.append(tuple(row))
    return Table(
        "Runs that are found, by their length",
        ("", *(f"{length} characters" for length in RUNS)),
        rows,
        f"{planted:,} runs of each length, each put into two of these texts at random places. Found: both texts have a"
        " fingerprint of it. From t on this is certain.",
    )


def _around(text: str, run: str, before: int) -> str:
    return f"{text[:before]}{run}{text[before : 2 * CONTEXT]}"


def named_pairs(unpacked: Unpacked, scheme: Scheme) -> dict[str, tuple[list[float], list[float]]]:
    """Return for each manual the resemblances of pages with the same name, and of other pages that share a shingle."""
    pairs = {}
    for (name, site), title in zip(
        MANUALS[::2], ("a manual in three versions", "another in eight editions"), strict=True
    ):
        corpus = records(html_pages(unpacked(name), site))
        alike = truth_about(corpus, scheme, 0.0).resemblances
        named = Counter(record.url.rsplit("/", 1)[1] for record in corpus)
        same = _scores(alike, same=True)
        missing = sum(count * (count - 1) // 2 for count in named.values()) - len(same)
        pairs[title] = sorted([*same, *[0.0] * missing]), sorted(_scores(alike, same=False))
    return pairs


def _scores(alike: Pairs, *, same: bool) -> list[float]:
    return [score for (a, b), score in alike.items() if a < b and (a.rsplit("/", 1)[1] == b.rsplit("/", 1)[1]) is same]


def families(by_width: dict[int, dict[str, tuple[list[float], list[float]]]]) -> Table:
    rows = []
    for title in next(iter(by_width.values())):
        for width, pairs in by_width.items():
            same, others = pairs[title]
            tenths = quantiles(same, n=20, method="inclusive")
            figures = (f"{figure:.2f}" for figure in (tenths[1], tenths[4], tenths[9], tenths[14]))
            rows.append((title, f"{width} words", f"{len(same):,}", *figures, f"{others[-1]:.2f}"))
    return Table(
        "Resemblance of pages of the same name",
        ("", "shingles", "pairs", "10 % are below", "25 %", "50 %", "75 %", "highest of other names"),
        rows,
        "HTML pages as they are, including menus. Names are a weak label: some chapters were renumbered.",
    )


def thresholds(by_width: dict[int, dict[str, tuple[list[float], list[float]]]]) -> Table:
    rows = []
    for title in next(iter(by_width.values())):
        for width, pairs in by_width.items():
            same, others = pairs[title]
            row = [title, f"{width} words"]
            for threshold in THRESHOLDS:
                right, wrong = (sum(score >= threshold for score in scores) for scores in (same, others))
                row.append(f"{100 * right / len(same):.0f} % · {wrong:,}")
            rows.append(tuple(row))
    return Table(
        "What a threshold takes in: of the pages of the same name · pairs of other names",
        ("", "shingles", *(f"{threshold:g}" for threshold in THRESHOLDS)),
        rows,
    )
