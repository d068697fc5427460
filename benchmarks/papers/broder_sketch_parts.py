"""The parts about definitions, estimates and super shingles."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from math import sqrt
from random import Random
from statistics import fmean

from benchmarks.papers.broder_errors import (
    BITS,
    SHINGLE_BYTES,
    Key,
    Samples,
    containment_errors,
    estimates_of_copies,
    resemblance_errors,
)
from benchmarks.papers.broder_pairs import Mixer, Pair, contained_pairs, resembling_pairs, shingle_set
from benchmarks.papers.broder_super_shingles import (
    ENOUGH,
    GROUPS,
    MODULUS,
    ROWS,
    RULES,
    RUNS,
    Shared,
    mean_resemblances,
    runs_shared,
    shared_by_resemblance,
    shared_of,
)
from benchmarks.papers.part import Check, Part
from benchmarks.papers.plot import Plot
from benchmarks.papers.run import PaperRun
from benchmarks.table import Table
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.overlap import overlap
from opensearch_winnow.cython_core.shingles import shingles
from opensearch_winnow.cython_core.sketches import distinct, mod_sketch, sketch_scale
from opensearch_winnow.mappings.record import Record

ROSE = "a rose is a rose is a rose"
PAIRS_PER_STEP = 4  # of each tenth of resemblance
METRIC_PAGES = 60  # all triples of which are tested
SHORT_WORDS = (50, 100, 200, 400, 1_600)
LONG_WORDS = 12_800
SHORT_CONTAINMENT = 0.6
TOLERANCE = 0.15  # of the ratio of a measured error to theory
MAX_BIAS = 4.0  # standard errors
NAMES = {
    "MIN_s": "MIN_s, s = {}",
    "MOD_m": "MOD_m, m = {}",
    "V_i": "V_i, i moved by {}",
    "MinHash": f"MinHash, {{}} bins of {BITS} bits",
}


def sketch_parts(run: PaperRun, corpus: str) -> Iterator[Part]:
    permutations = range(1, 31 if run.quick else 401)
    records = run.records(corpus)
    pairs = resembling_pairs(records, PAIRS_PER_STEP)
    yield definitions(records)
    yield errors_of_resemblance(pairs, permutations)
    yield errors_of_containment(contained_pairs(records, PAIRS_PER_STEP), permutations)
    yield short_in_long(records, permutations)
    yield super_shingles_by_resemblance(pairs, permutations)
    yield limits_of_super_shingles(records, permutations)


def definitions(records: Sequence[Record]) -> Part:
    rose = len(distinct(shingles(canonical_text(ROSE), 4)))
    with_shingles = [record for record in records if record.hashes.shingle_count]
    by_path = sorted(with_shingles, key=lambda record: record.url.split("/")[4:])  # versions of a page side by side
    pages = [shingle_set(canonical_text(record.text)) for record in by_path[:METRIC_PAGES]]
    violations = 0
    distances = {(a, b): distance(pages[a], pages[b]) for a, b in combinations(range(len(pages)), 2)}
    for a, b, c in combinations(range(len(pages)), 3):
        sides = sorted((distances[a, b], distances[b, c], distances[a, c]))
        violations += sides[2] > sides[0] + sides[1] + 1e-12
    counts = [record.hashes.shingle_count for record in records if record.hashes.shingle_count >= 100]
    scaled = [count / 2 ** sketch_scale(count) for count in counts]
    sets = [shingle_set(canonical_text(record.text)) for record in records[::5]]
    kept = sum(len(mod_sketch(page, MODULUS)) for page in sets) / sum(map(len, sets)) * MODULUS
    return Part(
        "Definitions",
        "The formula for V_i, that is, MOD with the modulus 2^i for pages of 100 · 2^i to 100 · 2^(i + 1) shingles,"
        " gives 100 to 200 shingles. The paper says 50 to 100, which is what the next i gives.",
        Table(
            "What follows from the definitions",
            ("", "paper", "here"),
            [
                (f"4-shingles of “{ROSE}”", "3", f"{rose}"),
                (
                    "triples of pages that break the triangle inequality of 1 − resemblance",
                    "none (a proof)",
                    f"{violations} of {len(pages) * (len(pages) - 1) * (len(pages) - 2) // 6:,}",
                ),
                (f"share of shingles that are 0 mod {MODULUS}", "1 in 25", f"1 in {MODULUS / kept:.2f}"),
                (
                    "expected shingles of V_i, by the formula",
                    "50 to 100",
                    f"{min(scaled):.0f} to {max(scaled):.0f}, {fmean(scaled):.0f} on average",
                ),
            ],
        ),
        checks=(
            Check(f"4-shingles of “{ROSE}”", rose, 3, 3),
            Check("triples that break the triangle inequality", violations, 0, 0),
            Check("share of shingles that are 0 mod 25, × 25", kept, 0.97, 1.03),
            Check("smallest expected V_i", min(scaled), 100, 101),
        ),
    )


def distance(a: array[int], b: array[int]) -> float:
    """Return 1 − resemblance of two sets of shingles."""
    shared = overlap(a, b)
    return 1 - shared / (len(a) + len(b) - shared)


def errors_of_resemblance(pairs: Sequence[Pair], permutations: range) -> Part:
    made = resemblance_errors(pairs, permutations)
    copies = estimates_of_copies(pairs)
    return Part(
        "The error of resemblance, by the size of the sketch",
        "The paper proves that estimates from MIN_s and MOD_m are unbiased, for a random permutation of all shingles."
        f" Here each of {len(permutations)} keys of the hash is such a permutation, and {len(pairs)} pairs of pages are"
        " compared with each. Half of the pairs are versions of one real page, half are mixed from runs of words of"
        " real pages; their resemblances cover 0 to 1. Bias is the mean error, and in parentheses the same in standard"
        " errors of this mean.\n\n"
        "Theory for MIN_s, MOD_m and V_i is the hypergeometric distribution: the root of r (1 − r) / n · (N − n) / (N −"
        " 1), where n of the N shingles of both pages were sampled. For MinHash it is that of independent bins. A"
        f" shingle takes {SHINGLE_BYTES} bytes, as in the paper (this software stores 8).\n\n"
        "Every sketch does what theory says. At the same size, MinHash with 4 bits a bin has a third of the error of"
        " the others, or less, since it samples ten times as many shingles. The"
        " [decision on sketches](../decisions/0004-sketches.md) says why a bin has 4 bits. MIN_s and MinHash give no"
        " containment.",
        Table(
            f"Estimates of resemblance, {len(pairs)} pairs × {len(permutations)} permutations",
            ("sketch", "bytes a page", "sampled", "bias", "RMS error", "theory", "ratio"),
            list(error_rows(made)),
            "V_i moved by 1 has the 50 to 100 shingles that the paper names.",
        ),
        error_plot("broder-resemblance", "Error of resemblance", made),
        (
            *error_checks("MIN_s, s = 100", made["MIN_s", 100]),
            *error_checks("MOD_m, m = 25", made["MOD_m", 25]),
            sample_check("MOD_m, m = 25", made["MOD_m", 25], fmean(pair.union for pair in pairs) / 25),
            *error_checks("V_i", made["V_i", 0]),
            Check("RMS error / theory of independent bins, MinHash 1024", ratio(made["MinHash", 1024]), 0.6, 1.05),
            Check(
                "bias of MinHash 1024, in standard errors", made["MinHash", 1024].bias_in_errors, -MAX_BIAS, MAX_BIAS
            ),
            Check("estimates for identical pages that are not 1", sum(each != 1 for each in copies), 0, 0),
        ),
    )


def errors_of_containment(pairs: Sequence[Pair], permutations: range) -> Part:
    made = containment_errors(pairs, permutations)
    return Part(
        "The error of containment",
        "By the paper's theorem, |V(A) ∩ V(B)| / |V(A)| is an unbiased estimate. Here 5 to 95 % of a text A, mixed from"
        " real pages, are in a text B with one to four times as many words around them. Theory is as above, with the"
        " shingles of A. At the same size, V_i has about 1.4 times the error of MOD_m, since the longer page decides"
        " the modulus of both.",
        Table(
            f"Estimates of containment, {len(pairs)} pairs × {len(permutations)} permutations",
            ("sketch", "bytes a page", "sampled of A", "bias", "RMS error", "theory", "ratio"),
            list(error_rows(made)),
        ),
        error_plot("broder-containment", "Error of containment", made),
        (
            *error_checks("containment, m = 25", made["MOD_m", 25]),
            *error_checks("containment, V_i", made["V_i", 0]),
            sample_check("containment, m = 25", made["MOD_m", 25], fmean(pair.count_a for pair in pairs) / 25),
        ),
    )


def error_rows(made: Mapping[Key, Samples]) -> Iterator[tuple[str, ...]]:
    for (method, parameter), samples in made.items():
        yield (
            NAMES[method].format(f"{parameter:+}" if method == "V_i" else parameter),
            f"{samples.size:,.0f}",
            f"{samples.sampled:,.0f}",
            f"{samples.bias:+.4f} ({samples.bias_in_errors:+.1f})",
            f"{samples.rms:.4f}",
            f"{samples.theory:.4f}",
            f"{ratio(samples):.2f}",
        )


def ratio(samples: Samples) -> float:
    return samples.rms / samples.theory


def error_plot(name: str, title: str, made: Mapping[Key, Samples]) -> Plot:
    series: dict[str, list[tuple[float, float]]] = {}
    for (method, _), samples in made.items():
        series.setdefault(method, []).append((samples.size, samples.rms))
    return Plot(name, title, "bytes a page", "root mean square error", series, log_x=True, log_y=True)


def error_checks(name: str, samples: Samples) -> tuple[Check, Check]:
    return (
        Check(f"RMS error / theory, {name}", ratio(samples), 1 - TOLERANCE, 1 + TOLERANCE),
        Check(f"bias in standard errors, {name}", samples.bias_in_errors, -MAX_BIAS, MAX_BIAS),
    )


def sample_check(name: str, samples: Samples, expected: float) -> Check:
    """Check that as many shingles are sampled as the modulus says: fewer would have a larger error, rightly so."""
    return Check(f"shingles sampled / expected, {name}", samples.sampled / expected, 0.95, 1.05)


def short_in_long(records: Sequence[Record], permutations: range) -> Part:
    mixer = Mixer(records, Random(30))
    rows, checks = [], []
    for words in SHORT_WORDS:
        pairs = [mixer.contained(SHORT_CONTAINMENT, words, LONG_WORDS) for _ in range(10)]
        made = containment_errors(pairs, permutations, moduli=(MODULUS,), shifts=(0,))
        cells = []
        for key in (("V_i", 0), ("MOD_m", MODULUS)):
            samples = made[key]
            empty = samples.empty / (samples.empty + samples.count)
            cells += [f"{samples.sampled:.1f}", f"{empty * 100:.1f} %", f"{samples.rms:.3f}", f"{samples.theory:.3f}"]
        rows.append((f"{fmean(pair.count_a for pair in pairs):,.0f}", *cells))
        if words in (SHORT_WORDS[0], SHORT_WORDS[-1]):
            low, high = (0.25, 0.6) if words == SHORT_WORDS[0] else (0.05, 0.25)
            checks.append(Check(f"RMS error of V_i, {words} words in a long page", made["V_i", 0].rms, low, high))
    return Part(
        "Short pages in long ones",
        "The paper warns that V_i is error prone for the containment of very short pages in much longer ones: both are"
        f" compared with the modulus of the longer one. Here {SHORT_CONTAINMENT * 100:.0f} % of a short text A are in a"
        f" text of {LONG_WORDS:,} words. The warning holds: below 400 words V_i tells little, or nothing, and"
        f" MOD_{MODULUS} needs 200. This software keeps MOD_{MODULUS}, and compares the texts where it has them.",
        Table(
            f"Estimates of containment in {LONG_WORDS:,} words, 10 pairs × {len(permutations)} permutations",
            (
                "shingles of A",
                *("V_i: sampled", "empty", "RMS error", "theory"),
                *(f"MOD_{MODULUS}: sampled", "empty", "RMS error", "theory"),
            ),
            rows,
            "Empty sketches give no estimate: “sampled” and the errors are of the others. The modulus of V_i is 64 if"
            " the long text has fewer than 12,800 different shingles, and 128 otherwise. The longer A is, the"
            " longer is the text that has a part of it: in the last row it always has more, so 1 in 128 is sampled.",
        ),
        checks=tuple(checks),
    )


def super_shingles_by_resemblance(pairs: Sequence[Pair], permutations: range) -> Part:
    counted = shared_by_resemblance(pairs, permutations)
    means = mean_resemblances(pairs)
    rows = [
        (
            f"{mean:.3f}",
            f"{counted[next(iter(RULES))][step].compared:,}",
            *(
                cell
                for rule in RULES
                for each in [counted[rule][step]]
                for cell in (f"{each.share:.3f}", f"{each.theory:.3f}")
            ),
        )
        for step, mean in means.items()
    ]
    series = {rule: [(mean, counted[rule][step].share) for step, mean in means.items()] for rule in RULES}
    return Part(
        "Super shingles",
        "The paper sorts a sketch, shingles the shingles, and says that pages with one super shingle in common are"
        " likely to resemble each other. It names neither a length nor a figure. Put the shingles of both sketches in"
        " order: two pages share a run of g shingles exactly if g neighbours are on both pages. So theory is the"
        " probability of g successes in a row in n trials, each a success with the probability r.\n\n"
        f"AltaVista later used {GROUPS} super shingles of {ROWS} minima each, and called two pages near-duplicates if"
        f" {ENOUGH} of them were equal (Broder, 2000): with p = r^{ROWS}, the probability is that of {ENOUGH} or more"
        f" successes in {GROUPS} trials. The bands of this software are shorter super shingles, which only propose"
        " candidates.\n\n"
        f"A run of {RUNS[0]} finds nearly all pairs above .5, and many below, which have to be compared. A run of"
        f" {RUNS[1]} misses most pairs at .5. Each rule has its own threshold, and none is sharp, as the paper says:"
        " super shingles are less accurate than sketches.",
        Table(
            f"Share of pairs that share super shingles (measured, theory), {len(permutations)} permutations",
            ("resemblance", "comparisons", *(cell for rule in RULES for cell in (rule, "theory"))),
            rows,
            "Comparisons with one permutation are not independent, so shares have a standard error of up to .02.",
        ),
        Plot(
            "broder-super-shingles",
            "Pairs that share super shingles",
            "resemblance",
            "share of pairs",
            series,
        ),
        tuple(
            Check(f"root mean square distance from theory, {rule}", distance_from_theory(by_step.values()), 0, 0.04)
            for rule, by_step in counted.items()
        ),
    )


def distance_from_theory(counted: Collection[Shared]) -> float:
    """Return the root mean square distance of measured shares from theory, weighted by comparisons."""
    squares = sum(each.compared * (each.share - each.theory) ** 2 for each in counted)
    return sqrt(squares / sum(each.compared for each in counted))


def limits_of_super_shingles(records: Sequence[Record], permutations: range) -> Part:
    mixer = Mixer(records, Random(84))
    rows = []
    by_size = []
    for words in SHORT_WORDS:
        pairs = [mixer.resembling(0.9, words) for _ in range(10)]
        counted = shared_of(lambda a, b, pair: runs_shared(a, b, pair, RUNS[0]), pairs, permutations)
        by_size.append(counted.share)
        rows.append((f"alike, {words:,} words", *limit_cells(pairs), f"{counted.share:.3f}", f"{counted.theory:.3f}"))
    contained = []
    for times in (1, 3, 8):
        pairs = [mixer.contained(1.0, 800, 800 * times) for _ in range(10)]
        counted = shared_of(lambda a, b, pair: runs_shared(a, b, pair, RUNS[0]), pairs, permutations)
        contained.append(counted.share)
        rows.append(
            (
                f"contained, in {times + 1} × 800 words",
                *limit_cells(pairs),
                f"{counted.share:.3f}",
                f"{counted.theory:.3f}",
            )
        )
    return Part(
        "Where super shingles fail",
        "The paper names two limits: short pages, and containment. Both follow from the same formula: a short page has"
        " few shingles in its sketch, and the shingles that surround a contained page come between its own.",
        Table(
            f"Share of pairs with a common run of {RUNS[0]} shingles of MOD_{MODULUS}",
            ("pair", "resemblance", "containment", "here", "theory"),
            rows,
        ),
        checks=(
            Check("alike pages of 50 words that share a super shingle", by_size[0], 0, 0.2),
            Check("alike pages of 1,600 words that share a super shingle", by_size[-1], 0.98, 1),
            Check("contained pages, in 9 times their size, that share a super shingle", contained[-1], 0, 0.2),
        ),
    )


def limit_cells(pairs: Sequence[Pair]) -> tuple[str, str]:
    return f"{fmean(pair.resemblance for pair in pairs):.2f}", f"{fmean(pair.containment for pair in pairs):.2f}"
