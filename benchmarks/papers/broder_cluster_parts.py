"""The parts about clusters: statistics, sizes of sketches, thresholds, common shingles, copies, single questions."""

from __future__ import annotations

import time
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import fmean, median

from benchmarks.papers.broder_clusters import (
    MAX_DOCUMENTS,
    THRESHOLD,
    WHOLE_CRAWL,
    Clustering,
    PaperClusters,
    Statistics,
    UrlPair,
    clusters_by_the_paper,
    clusters_by_truth,
    clusters_of_generated_pages,
    clusters_of_this_software,
    pair_f1,
)
from benchmarks.papers.broder_pairs import pair_of, shingle_set
from benchmarks.papers.broder_phase_parts import files, phases
from benchmarks.papers.part import Check, Part
from benchmarks.papers.run import PaperRun
from benchmarks.table import Table, percent
from opensearch_winnow.cython_core.canonical_text import CanonicalText, canonical_text
from opensearch_winnow.cython_core.sketches import mod_sketch
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from tests.quality.truth import truth_about

PAPER_STATISTICS = Statistics(WHOLE_CRAWL, 3_600_000, 12_300_000, 2_100_000, 5_300_000)
LOWEST = 0.3  # resemblance of the pairs that are looked at
THRESHOLDS = (0.3, 0.4, 0.5, 0.7, 0.9)
GENERATED = 50_000  # pages, for the phases that a few thousand hardly show
MODULI = (25, 10, 5)
LOWEST_PRECISION = {25: 0.4, 10: 0.6, 5: 0.8}  # with a single permutation; by modulus
LIMITS = (1_000, 100, 30, 10)
DOCUMENTS = (1, 10, 100, 1_000)  # shingles on more pages than this are counted

Sketches = list["array[int]"]


def cluster_parts(run: PaperRun, corpus: str) -> Iterator[Part]:
    records = run.records(corpus)
    texts = [canonical_text(record.text) for record in records]
    sketches = [mod_sketch(shingle_set(text), MODULI[0]) for text in texts]
    by_paper = clusters_by_the_paper(records, sketches)
    truth = {pair: r for pair, r in truth_about(records, Scheme(), LOWEST).resemblances.items() if pair[0] < pair[1]}
    clustering = clusters_of_this_software(corpus)
    size = sum(page.size for page in run.pages(corpus))
    yield phases(clustering, size, None if run.quick else clusters_of_generated_pages(GENERATED))
    yield files(clustering, by_paper, records, size)
    yield statistics(run, corpus, clustering, by_paper, truth)
    yield sizes_of_sketches(records, texts, truth, range(1, 2 if run.quick else 11))
    yield thresholds(records, truth)
    yield common_shingles(records, sketches, truth)
    yield identical_documents(run, corpus)


def statistics(
    run: PaperRun, corpus: str, clustering: Clustering, by_paper: PaperClusters, truth: Mapping[UrlPair, float]
) -> Part:
    records = run.records(corpus)
    exact = clusters_by_truth(records, (pair for pair, r in truth.items() if r >= THRESHOLD))
    identity = identities(records)
    columns = {
        "paper": PAPER_STATISTICS,
        "exact": Statistics.of(exact, identity),
        "this software": Statistics.of(clustering.clusters, identity),
        "the paper's rule": Statistics.of(by_paper.clusters, identity),
    }
    f1 = {"this software": pair_f1(clustering.clusters, exact), "the paper's rule": pair_f1(by_paper.clusters, exact)}
    if run.has("manuals"):
        manuals = clusters_of_this_software("manuals")
        columns["manuals, this software"] = Statistics.of(manuals.clusters, identities(run.records("manuals")))
    every = list(columns.values())
    rows = [
        ("documents", *(f"{each.documents:,}" for each in every)),
        ("clusters", *(f"{each.clusters:,}" for each in every)),
        ("documents in clusters", *(of_all(each.clustered, each) for each in every)),
        ("documents in a cluster, on average", *(f"{each.clustered / each.clusters:.1f}" for each in every)),
        ("clusters with identical documents only", *(f"{each.identical:,}" for each in every)),
        ("documents in them", *(of_all(each.identical_documents, each) for each in every)),
        ("other clusters", *(f"{each.clusters - each.identical:,}" for each in every)),
        ("documents in them", *(of_all(each.clustered - each.identical_documents, each) for each in every)),
        ("F1 of pairs in one cluster", *(f"{f1[name]:.4f}" if name in f1 else "–" for name in columns)),
    ]
    return Part(
        "Clusters at a resemblance of 50 %",
        "Clusters are the connected components of pairs that resemble each other by .5 or more. “Exact” compares all"
        " pairs of pages by all their shingles. “The paper's rule” estimates from MOD_25 sketches. Documents are"
        " identical here if they have the same shingles, and in the paper if they have the same bytes.\n\n"
        "The shares cannot be compared: these are sites in several releases, so most pages have a near-duplicate, and"
        " few have a copy. On the Web of 1996, more than half of the clusters had identical documents only.\n\n"
        "This software finds the exact clusters. The paper's rule links some pairs that are below .5, and a component"
        " needs only one such pair to join two clusters. The next part shows why.",
        Table(
            "Clusters",
            ("", *columns),
            rows,
            "Manuals: PostgreSQL, SPDX and the Debian guide." if run.has("manuals") else "",
        ),
        checks=(
            Check("F1 of pairs in one cluster, this software", f1["this software"], 0.995, 1),
            Check("documents missing from the clusters", len(records) - len(clustering.clusters), 0, 0),
        ),
    )


def identities(records: Sequence[Record]) -> dict[str, str]:
    return {record.url: record.hashes.shingle_digest or record.content_digest for record in records}


def of_all(documents: int, each: Statistics) -> str:
    return f"{documents:,} ({documents / each.documents * 100:.1f} %)"


def sizes_of_sketches(
    records: Sequence[Record], texts: Sequence[CanonicalText], truth: Mapping[UrlPair, float], permutations: range
) -> Part:
    exact = clusters_by_truth(records, (pair for pair, r in truth.items() if r >= THRESHOLD))
    rows, checks = [], []
    for modulus in MODULI:
        figures = []
        for key in permutations:
            found = clusters_by_the_paper(records, [mod_sketch(shingle_set(text, key), modulus) for text in texts])
            real = {pair for pair, r in truth.items() if r >= THRESHOLD and found.kept.issuperset(pair)}
            wrong = found.edges - real
            figures.append(
                (
                    1 - len(wrong) / len(found.edges),
                    1 - len(real - found.edges) / len(real),
                    sum(pair in truth for pair in wrong) / max(len(wrong), 1),
                    pair_f1(found.clusters, exact),
                    found.shingles / len(records),
                )
            )
        precision, recall, near, f1, shingles = zip(*figures, strict=True)
        rows.append((str(modulus), f"{fmean(shingles):.0f}", *map(mean_and_range, (precision, recall, near, f1))))
        low = LOWEST_PRECISION[modulus]
        checks.append(Check(f"mean precision of pairs, m = {modulus}", fmean(precision), low, 1))
        checks.append(Check(f"mean recall of pairs, m = {modulus}", fmean(recall), 0.8, 1))
    return Part(
        "What the size of the sketch decides",
        f"The paper's rule with sketches of several sizes and {len(permutations)} permutations, compared with exact"
        " resemblances. With m = 25 two pages of 300 words have some 16 shingles, so at .5 the estimate has a standard"
        " error of .12. Most wrong pairs are pages of one site that share its template, and resemble each other by .3"
        " to .5. All their sketches sample the same few shingles of this template, so they err together, and"
        " figures differ much from permutation to permutation. This software estimates from a MinHash of 512 bytes"
        " whatever the size of the page, and looks at the texts near the threshold.",
        Table(
            f"Pairs linked by the paper's rule: mean (range) of {len(permutations)} permutations",
            (
                "m",
                "shingles a page",
                "precision",
                "recall",
                f"wrong ones that resemble by {LOWEST} or more",
                "F1 of pairs in one cluster",
            ),
            rows,
        ),
        checks=tuple(checks),
    )


def mean_and_range(figures: Sequence[float]) -> str:
    return f"{fmean(figures):.3f} ({min(figures):.3f} to {max(figures):.3f})"


def thresholds(records: Sequence[Record], truth: Mapping[UrlPair, float]) -> Part:
    rows, clustered = [], []
    for threshold in THRESHOLDS:
        start = time.process_time()
        clusters = clusters_by_truth(records, [pair for pair, r in truth.items() if r >= threshold])
        taken = time.process_time() - start
        found = Statistics.of(clusters, identities(records))
        clustered.append(found.clustered)
        largest = max(Counter(clusters.values()).values())
        rows.append(
            (
                f"{threshold:.1f}",
                f"{found.clusters:,}",
                of_all(found.clustered, found),
                f"{largest:,}",
                f"{taken * 1e3:.0f}",
            )
        )
    ordered = all(a >= b for a, b in pairwise(clustered))
    return Part(
        "Other thresholds",
        "The paper fixes 50 %, and suggests to repeat the last phase for other thresholds, as it is cheap. Here"
        " union-find runs again on the exact pairs. The paper has no figures for other thresholds.",
        Table(
            "Components of exact pairs",
            ("resemblance", "clusters", "documents in clusters", "largest cluster", "CPU ms of the last phase"),
            rows,
        ),
        checks=(Check("a higher threshold never clusters more documents", ordered, 1, 1),),
    )


def common_shingles(records: Sequence[Record], sketches: Sketches, truth: Mapping[UrlPair, float]) -> Part:
    on: dict[int, list[int]] = defaultdict(list)
    for number, sketch in enumerate(sketches):
        for shingle in sketch:
            on[shingle].append(number)
    all_pairs = sum(len(pages) * (len(pages) - 1) // 2 for pages in on.values())
    rows, shares = [], {}
    for least in DOCUMENTS:
        common = [pages for pages in on.values() if len(pages) > least]
        shares[least] = sum(len(pages) * (len(pages) - 1) // 2 for pages in common) / all_pairs
        one_site = sum(len({records[page].site for page in pages}) == 1 for pages in common)
        rows.append(
            (
                f"{least:,}",
                f"{len(common):,} ({len(common) / len(on) * 100:.2f} %)",
                percent(shares[least], 1),
                percent(one_site / len(common), 1) if common else "–",
            )
        )
    exact = clusters_by_truth(records, (pair for pair, r in truth.items() if r >= THRESHOLD))
    effects = []
    for limit in LIMITS:
        found = clusters_by_the_paper(records, sketches, limit)
        counted = Statistics.of(found.clusters, identities(records))
        effects.append(f"{limit:,}: {counted.clustered:,} ({pair_f1(found.clusters, exact):.3f})")
    most = max(map(len, on.values()))
    return Part(
        "Common shingles",
        f"The paper ignores shingles on more than {MAX_DOCUMENTS:,} of 30 million pages, because pairs grow with the"
        f" square, and found nearly all of them mechanically generated. The most common one here is on {most:,} of"
        f" {len(records):,} pages. So the same limit means something else on a few thousand pages; what can be compared"
        " is that few shingles make most of the pairs, and that they are mechanically generated: those on more than 100"
        " pages are of the template of one site, or of the two sites whose Javadoc was made alike.\n\n"
        "The limit also ignores every family of copies that is larger. Documents in clusters by the paper's rule with"
        f" several limits (and F1 of pairs in one cluster): {'; '.join(effects)}. This software ignores no shingle:"
        " for each, a page is compared with at most 100 earlier ones.",
        Table(
            f"Shingles of all sketches, {len(on):,} different ones",
            ("on more pages than", "shingles", "share of all pairs", "on one site only"),
            rows,
        ),
        checks=(Check(f"share of pairs by shingles on more than {DOCUMENTS[1]} pages", shares[DOCUMENTS[1]], 0.5, 1),),
    )


def identical_documents(run: PaperRun, corpus: str) -> Part:
    rows, checks = [], []
    for name in (corpus, *(["manuals"] if run.has("manuals") else [])):
        records = run.records(name)
        different = (
            {record.content_digest for record in records},
            {record.hashes.text_digest for record in records},
            {record.hashes.shingle_digest or record.content_digest for record in records},
            {record.hashes.sketch.tobytes() or record.content_digest for record in records},
        )
        removed = [len(records) - len(keys) for keys in different]
        only = sorted(resemblances_by_sketch_only(records))
        rows.append(
            (
                f"`{name}`",
                f"{len(records):,}",
                *(f"{count:,}" for count in removed),
                f"{median(only):.3f}",
                f"{sum(each < THRESHOLD for each in only)} of {len(only):,}",
            )
        )
        checks += [
            Check(f"each kind includes the one before, {name}", all(a <= b for a, b in pairwise(removed)), 1, 1),
            Check(f"median resemblance of pages with equal sketches only, {name}", median(only), 0.8, 1),
        ]
    return Part(
        "Identical documents",
        "The paper describes three kinds of equal documents, each of which includes the one before: of the same bytes,"
        " of the same canonical text, and of the same sketch (shingle equivalent). It does not say how many of each"
        " there were. Here many releases of a page have the same sketch, though they differ in a few words. Pages with"
        " equal sketches but different shingles resemble each other; most of the few exceptions have one to three"
        " shingles in their sketches. This software eliminates only documents with the same shingles, all of them."
        " Pages with an empty sketch count as equal if their bytes are.\n\n"
        "The last two columns compare each page with the first one that has its sketch, if their shingles differ. They"
        " count more pages than the difference of the two columns before: if two such pages are copies of each other,"
        " both count; and pages with an empty sketch may be equal by shingles, but are not by sketch unless their bytes"
        " are.",
        Table(
            "Documents that duplicate elimination leaves out",
            (
                "corpus",
                "documents",
                "identical",
                "lexically equivalent",
                "same shingles",
                "shingle equivalent",
                "equal by sketch only: median resemblance",
                f"below {THRESHOLD}",
            ),
            rows,
        ),
        checks=tuple(checks),
    )


def resemblances_by_sketch_only(records: Sequence[Record]) -> Iterator[float]:
    """Yield the resemblance of each page to the first one with the same sketch, unless all shingles are the same."""
    first: dict[bytes, Record] = {}
    for record in records:
        if record.hashes.sketch:
            other = first.setdefault(record.hashes.sketch.tobytes(), record)
            if other.hashes.shingle_digest != record.hashes.shingle_digest:
                yield pair_of(record.text, other.text).resemblance
