"""Larger collections by simulation: how many pages have a token, and what a question meets in up to 10^10 pages.
Every heading says whether a table is counted on real pages or simulated from them. Nothing here is about speed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

from benchmarks.scale_model import NO_CHECK, SHAPE, Answer, Collection
from benchmarks.scale_samples import KINDS, Sample, questions, samples
from benchmarks.table import Run, Table
from opensearch_winnow.operations.upkeep.power_law import power_law
from opensearch_winnow.queries.asking.frequency_check import DEFAULT_FREQUENT, MAX_FREQUENT_RUN
from opensearch_winnow.queries.asking.lookups import Field

QUESTIONS = 1_000
SIZES = (10**4, 10**6, 10**8, 10**10)
SHAPES = (0, 0.01, SHAPE, 2 * SHAPE)
PARTS = (0.1, 1 / 3, 1.0)
DRAWS = 5  # random tenths, to predict from
CHECKED_AT = 10  # pages; the samples are too small for the 1,000 of the software to matter
# Parts that were collected before others, by a name in the address.
SOURCES = {
    "the Web, one page of each site": ("from pages of 2005 to 2020", "trafilatura-eval"),
    "a manual in three versions": ("from the first version", "/13/"),
}
FIELDS: tuple[Field, ...] = ("fingerprints", "sketch")


def tables(run: Run) -> Iterator[Table]:
    sets = dict(samples(run.scale))
    count = run.size(QUESTIONS, least=20)
    yield fits(sets)
    yield validation(sets, count)
    yield growth(sets, count)
    for kind in KINDS:
        yield simulation(sets, kind, count)
    yield sensitivity(*next(iter(sets.items())), count)


def fits(sets: dict[str, Sample]) -> Table:
    """Fit the power law to parts of each set, to see whether its exponent depends on the number of pages."""
    rows = []
    for what, whole in sets.items():
        for field in FIELDS:
            for part in PARTS:
                sample = whole.part(part)
                counts = sample.frequencies(field)
                law = power_law(counts)
                postings = sum(pages * tokens for pages, tokens in counts.items())
                others = sum(pages * (pages - 1) * tokens for pages, tokens in counts.items())
                rows.append(
                    (
                        what,
                        field,
                        f"{len(sample):,}",
                        f"{postings / len(sample):.0f}",
                        "" if law is None else f"{law.exponent:.2f} ± {law.error:.2f}",
                        "" if law is None else f"{law.distance:.2f}",
                        f"{counts[1] / postings:.3f}",
                        f"{others / postings / (len(sample) - 1):.1e}",
                        f"{max(counts) / len(sample):.1%}",
                    )
                )
    return Table(
        "Counted on real pages: how many of them have a token",
        (
            "",
            "tokens",
            "pages",
            "of a page",
            "exponent",
            "distance",
            "on no other page",
            "another page has it",
            "most frequent",
        ),
        rows,
        "Exponent: of the power law, by maximum likelihood, and its Kolmogorov-Smirnov distance. It falls as the sample"
        " grows: it is a property of the sample and cannot be carried over to a larger collection. On no other page:"
        " the share of a page's tokens. Another page has it: the probability that a random page has a random token of"
        " a page. It stays, as it must if a collection grows by pages of the same kind.",
    )


def validation(sets: dict[str, Sample], count: int) -> Table:
    """Predict the candidates in a third and in all pages from a tenth of them, and count them."""
    rows = []
    for what, whole in sets.items():
        tenths = [whole.shuffled(seed).part(0.1) for seed in range(DRAWS)]
        for kind in KINDS:
            for name, max_pages in (("none", NO_CHECK), (f"> {CHECKED_AT} pages", CHECKED_AT)):
                for part in PARTS[1:]:
                    target = whole.part(part)
                    counted = answers(Collection(target, len(target), 0, max_pages), kind, count)
                    low, high = (
                        [
                            answer
                            for tenth in tenths
                            for answer in answers(Collection(tenth, len(target), shape, max_pages), kind, count)
                        ]
                        for shape in (0, SHAPE)
                    )
                    cells = (percentiles([each.candidates for each in some]) for some in (counted, low, high))
                    rows.append((what, kind, name, f"{len(tenths[0]):,} → {len(target):,}", *cells))
    return Table(
        "Simulated from a tenth of the pages, beside what is counted: candidates of a question, p50 / p95 / p99",
        ("", "question", "check", "pages", "counted", "simulated, low", "simulated, high"),
        rows,
        f"Simulated from {DRAWS} random tenths. Check: tokens on more pages are not looked up, but for the rarest of"
        f" {MAX_FREQUENT_RUN} in a row; the sets are too small for the usual {DEFAULT_FREQUENT:,} pages to matter. Each"
        " page of the sample stands for as many pages of the collection as there are. Low: a token on one page of the"
        f" sample is on no other page of the collection. High: its share p of the pages follows a power law, p^(a - 1)"
        f" with a = {SHAPE:g}, so chosen that as many tokens are on other pages as Broder and others found pages in"
        " clusters, 41 % of 30 million.",
    )


def growth(sets: dict[str, Sample], count: int) -> Table:
    """Predict the candidates from pages of one source, where a collection does not grow by pages of the same kind."""
    rows = []
    for what, (name, source) in SOURCES.items():
        first = sets[what].of_source(source)
        for kind in KINDS:
            counted = answers(Collection(sets[what], len(sets[what]), 0), kind, count)
            low, high = (answers(Collection(first, len(sets[what]), shape), kind, count) for shape in (0, SHAPE))
            cells = (percentiles([each.candidates for each in some]) for some in (counted, low, high))
            rows.append((f"{what}: {name}", kind, f"{len(first):,} → {len(sets[what]):,}", *cells))
    return Table(
        "Simulated from one source, beside what is counted in all: candidates of a question, p50 / p95 / p99",
        ("", "question", "pages", "counted", "simulated, low", "simulated, high"),
        rows,
        "Random parts of a set have to agree with the whole; parts that were collected apart need not. Without the"
        " check.",
    )


def simulation(sets: dict[str, Sample], kind: str, count: int) -> Table:
    rows = []
    for what, sample in sets.items():
        for size in SIZES:
            unchecked = answers(Collection(sample, size, SHAPE), kind, count)
            low = answers(Collection(sample, size, 0, DEFAULT_FREQUENT), kind, count)
            high = answers(Collection(sample, size, SHAPE, DEFAULT_FREQUENT), kind, count)
            rows.append(
                (
                    what,
                    power(size),
                    percentiles([each.candidates for each in unchecked]),
                    percentiles([each.candidates for each in low]),
                    percentiles([each.candidates for each in high]),
                    percentiles([each.postings for each in unchecked]),
                    percentiles([each.postings for each in high]),
                    f"{ignored(low):.0%} to {ignored(high):.0%}",
                    f"{checked(low):.0%} to {checked(high):.0%}",
                )
            )
    return Table(
        f"Simulated: {kind}, p50 / p95 / p99",
        (
            "",
            "pages",
            "candidates without the check, high",
            "with it, low",
            "with it, high",
            "postings without the check, high",
            "with it, high",
            "tokens ignored",
            "questions with a count",
        ),
        rows,
        f"k, M, G: thousand, million, 10^9. The check ignores tokens on more than {DEFAULT_FREQUENT:,} pages, but for"
        f" the rarest of {MAX_FREQUENT_RUN} in a row. Postings: entries of the tokens that are looked up. Questions"
        f" with a count: more than {DEFAULT_FREQUENT:,} pages have some token, so the pages of each have to be counted."
        " Low and high as above.",
    )


def sensitivity(what: str, sample: Sample, count: int) -> Table:
    """Vary the shape of the law, which the sample does not determine."""
    rows = []
    for kind in KINDS:
        for size in SIZES[1:]:
            some = (answers(Collection(sample, size, shape, DEFAULT_FREQUENT), kind, count) for shape in SHAPES)
            rows.append((kind, power(size), *(percentiles([each.candidates for each in found]) for found in some)))
    return Table(
        f"Simulated: candidates by the shape of the law, p50 / p95 / p99; {what}",
        ("question", "pages", *(f"a = {shape:g}" for shape in SHAPES)),
        rows,
        f"With the check. The tables above have a = 0 as low and a = {SHAPE:g} as high.",
    )


def ignored(found: Sequence[Answer]) -> float:
    """Return the share of the tokens that were not looked up."""
    return sum(each.ignored for each in found) / sum(each.tokens for each in found)


def checked(found: Sequence[Answer]) -> float:
    """Return the share of the questions of which single tokens have to be counted."""
    return sum(each.holders > DEFAULT_FREQUENT for each in found) / len(found)


def power(size: int) -> str:
    return f"10^{len(str(size)) - 1}"


def answers(collection: Collection, kind: str, count: int) -> list[Answer]:
    """Ask a collection the first pages of its sample."""
    random = Random(7)
    return [collection.answer(question, random) for question in questions(collection.sample, kind, count)]


def percentiles(values: Sequence[int]) -> str:
    """Return the 50th, 95th and 99th percentile, as "p50 / p95 / p99"."""
    ordered = sorted(values)
    return " / ".join(short(ordered[min(int(len(ordered) * share), len(ordered) - 1)]) for share in (0.5, 0.95, 0.99))


def short(value: float) -> str:
    """Return a number with two or three digits and a unit: 950, 12 k, 3.4 M."""
    for unit, size in ((" G", 1e9), (" M", 1e6), (" k", 1e3)):
        if value >= max(0.9995 * size, 1e4):
            scaled = value / size
            return f"{scaled:.0f}{unit}" if scaled >= 9.95 else f"{scaled:.1f}{unit}"
    return f"{value:,.0f}"
