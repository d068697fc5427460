"""The experiments of the winnowing paper: a worked example, densities, real pages, low-entropy texts, the power law."""

from __future__ import annotations

import math
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

from benchmarks.papers.part import Check, Part
from benchmarks.papers.plot import Plot
from benchmarks.papers.random_text import random_text
from benchmarks.papers.run import PaperRun
from benchmarks.papers.winnowing_frequencies import power_law_part
from benchmarks.peers.compiled import c_peer
from benchmarks.table import Table, percent
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.fingerprints import fingerprints
from opensearch_winnow.cython_core.kgram_hashes import kgram_hashes
from opensearch_winnow.cython_core.window_minima import window_minima

TITLE = "Winnowing: Local Algorithms for Document Fingerprinting (2003)"
INTRODUCTION = """\
Schleimer, Wilkerson and Aiken, SIGMOD 2003. The paper hashes strings of 50 characters (k = 50) and winnows with a
window of 100 hashes (w = 100), so every shared run of t = w + k − 1 = 149 characters is found. All parts below do the
same unless they say otherwise.

The paper removed tags and white space from Web pages of 2002, and does not say what else. Canonical text, which this
software hashes, also lacks punctuation, and has lower-case letters only. The paper uses 64-bit hashes. Here,
[61 bits](../decisions/0002-fingerprints.md) of a hash decide which k-grams are kept and which are equal; they are then
mixed into a number of 64 bits, the fingerprint that is stored and printed."""

K, W = 50, 100
P = (W + 1) // 2  # the selection "mod-p" keeps hashes that are 0 mod 50 at this window
EXPECTED = 2 / (W + 1)
RANDOM_CHARACTERS = 8_000_000
WINDOWS = (5, 10, 20, 50, 100, 200, 500)
SONG = "A do run run run, a do run run"
PAPER_HASHES = array("Q", [77, 74, 42, 17, 98, 50, 17, 98, 8, 88, 67, 39, 77, 74, 42, 17, 98])
PAPER_PICKS = [(17, 3), (17, 6), (8, 8), (39, 11), (17, 15)]
BUCKETS = 256


def parts(run: PaperRun) -> Iterator[Part]:
    yield worked_example()
    chars = random_text(RANDOM_CHARACTERS, seed=1)
    yield random_density(chars)
    yield windows_missed(chars)
    yield density_over_window(chars[: RANDOM_CHARACTERS // (8 if run.quick else 1)])
    yield larger_window(chars[:1_000_000])
    yield real_pages(run)
    yield low_entropy()
    yield power_law_part(run)
    yield paper_code(run)


def density(chars: str, selection: str = "winnow", *, k: int = K, w: int = W, robust: bool = True) -> float:
    return len(fingerprints(chars, k, w, selection, robust=robust)[0]) / (len(chars) - k + 1)


def largest_gap(positions: array[int]) -> int:
    return max(after - before for before, after in pairwise(positions))


# --- figures 1 and 2 --------------------------------------------------------------------------------------------------


def worked_example() -> Part:
    chars = canonical_text(SONG).chars
    picks = [(PAPER_HASHES[at], at) for at in window_minima(PAPER_HASHES, 4, robust=False)]
    robust = [(PAPER_HASHES[at], at) for at in window_minima(PAPER_HASHES, 4)]
    own = fingerprints(chars, 5, 4, robust=False)[1]
    grams = ", ".join(f"{chars[at : at + 5]} at {at}" for at in own)
    return Part(
        "Figure 2: a worked example",
        f"The paper removes what is irrelevant from “{SONG}”, gives each 5-gram a hypothetical hash, and winnows with a"
        " window of 4. The first rows winnow the paper's own hashes with the code of this software. The last row hashes"
        " the 5-grams itself: other hashes, so other fingerprints.",
        Table(
            "Fingerprints as [hash, position]",
            ("", "paper", "here"),
            [
                ("text without irrelevant features", "adorunrunrunadorunrun", chars),
                ("5-grams", "17", str(len(chars) - 4)),
                ("winnowing of the paper's hashes", bracketed(PAPER_PICKS), bracketed(picks)),
                ("robust winnowing of the paper's hashes", "–", bracketed(robust)),
                ("winnowing with this software's hash", "–", grams),
            ],
        ),
        checks=(
            Check("fingerprints of figure 2 that differ", len(set(picks) ^ set(PAPER_PICKS)), 0, 0),
            Check("5-grams of figure 2", len(chars) - 4, 17, 17),
        ),
    )


def bracketed(picks: list[tuple[int, int]]) -> str:
    return " ".join(f"[{number},{at}]" for number, at in picks)


# --- random text ------------------------------------------------------------------------------------------------------


def random_density(chars: str) -> Part:
    winnowed, mod_p = density(chars), density(chars, "mod-p")
    buckets = Counter(number >> 56 for number in kgram_hashes(chars[:1_000_000], K))
    mean = buckets.total() / BUCKETS
    chi_square = sum((buckets[i] - mean) ** 2 / mean for i in range(BUCKETS)) / (BUCKETS - 1)
    return Part(
        "Section 5.1: 8 MB of random text",
        "The paper winnows random text to see that its hash function is good enough. Here, the text is 8 million"
        " characters of a 32-letter alphabet, from a fixed seed; the paper does not name its alphabet.",
        Table(
            f"Density at k = {K}, w = {W}",
            ("", "expected", "paper", "here"),
            [
                ("winnowing", f"{EXPECTED:.6f}", "0.019902", f"{winnowed:.6f}"),
                (f"0 mod {P}", f"{1 / P:.6f}", "0.020005", f"{mod_p:.6f}"),
                ("spread of hashes over 256 buckets, χ² / 255", "1 ± 0.09", "uniform", f"{chi_square:.2f}"),
            ],
        ),
        checks=(
            # A window that is off by one changes the density by 1 %. The standard error is 0.15 %.
            Check("density of winnowing on random text, × (w + 1)", winnowed * (W + 1), 1.99, 2.01),
            Check("density of 0 mod p on random text, × p", mod_p * P, 0.99, 1.01),
            Check("spread of hashes, χ² / 255", chi_square, 0.7, 1.3),
        ),
    )


def windows_missed(chars: str) -> Part:
    winnowed, mod_p = fingerprints(chars, K, W)[1], fingerprints(chars, K, W, "mod-p")[1]
    hashes = len(chars) - K + 1
    windows = hashes - W + 1
    missed = missed_windows(mod_p, hashes) / windows
    p = round(W / math.log(W))
    good = fingerprints(chars, K, 2 * p, "mod-p")[1]
    bad = sum(max(after - before - W, 0) for before, after in pairwise(good))
    safe = (len(good) + bad) / hashes
    return Part(
        "Section 3.1: windows that 0 mod p misses at the same density",
        "The paper computes that at equal density, 0 mod p leaves 13.5 % of strings of length t without a fingerprint,"
        " where winnowing never leaves one. It also computes what it costs to repair 0 mod p by keeping all hashes"
        f" in a gap that has become too long, with the best p, here {p}. The paper did not measure these. Its 13.5 % is"
        " the limit e⁻² for large w; its density of the repaired algorithm is an approximation, too.",
        Table(
            "On the random text",
            ("", "computed", "here"),
            [
                (f"windows missed by 0 mod {P}", "13.5 % (paper)", percent(missed, 2)),
                (f"the same, (1 − 1/{P})^{W}", percent((1 - 1 / P) ** W, 2), ""),
                ("windows missed by winnowing", "0", str(missed_windows(winnowed, hashes))),
                ("largest gap between fingerprints, winnowing", f"at most {W}", str(largest_gap(winnowed))),
                (f"largest gap between fingerprints, 0 mod {P}", "unbounded", str(largest_gap(mod_p))),
                ("density of safe 0 mod p, (1 + ln w) / w", f"{(1 + math.log(W)) / W:.4f} (paper)", f"{safe:.4f}"),
            ],
        ),
        checks=(
            Check("largest gap of winnowing, on random text", largest_gap(winnowed), W, W),
            Check("windows missed by winnowing", missed_windows(winnowed, hashes), 0, 0),
            Check("share of windows missed by 0 mod p", missed, 0.128, 0.137),
        ),
    )


def missed_windows(positions: array[int], hashes: int) -> int:
    """Return how many windows of W hashes have no fingerprint."""
    return sum(max(after - before - W, 0) for before, after in pairwise([-1, *positions, hashes]))


def density_over_window(chars: str) -> Part:
    measured = {
        selection: {w: density(chars, selection, w=w) * (w + 1) for w in WINDOWS}
        for selection in ("open-closed", "mod-minimizer", "winnow")
    }
    series: dict[str, list[tuple[float, float]]] = {
        f"{selection}, measured": list(values.items()) for selection, values in measured.items()
    }
    computed: dict[str, list[tuple[float, float]]] = {
        "1.5 + 1 / 2w: lower bound for independent hashes": [(w, 1.5 + 0.5 / w) for w in WINDOWS],
        "2: expected of winnowing": [(w, 2) for w in WINDOWS],
    }
    return Part(
        "Sections 3.1 and 4: density over the window, and beyond the paper",
        "The paper proves that winnowing keeps 2 / (w + 1) of independent hashes, and that no local algorithm keeps"
        " less than (1.5 + 1 / 2w) / (w + 1). It conjectures that none keeps less than 2 / (w + 1).\n\n"
        "The selections `open-closed` and `mod-minimizer` are of later years. Their guarantee is the same. Both keep"
        " less than conjectured for some windows, and `mod-minimizer` less than even the proved bound, the"
        " third column of the table. That is no contradiction: the proof takes the hashes as independent, so that two"
        " windows without a common hash say nothing about each other. These selections look at the characters inside"
        f" the k-grams. Two neighbouring k-grams share {K - 1} of {K} characters, so even windows without a common"
        " hash depend on each other, and neither the bound nor the conjecture applies.",
        Table(
            f"Density × (w + 1), k = {K}, {len(chars):,} random characters",
            ("w", "2 / (w + 1)", "bound: 1.5 + 1 / 2w", *(f"`{selection}`" for selection in measured)),
            [
                (
                    str(w),
                    f"{2 / (w + 1):.5f}",
                    f"{1.5 + 0.5 / w:.3f}",
                    *(f"{values[w]:.3f}" for values in measured.values()),
                )
                for w in WINDOWS
            ],
            "The paper proves 2.000 for winnowing. `mod-minimizer` keeps less where k is larger than w, and is"
            " winnowing where k is smaller; `open-closed` keeps least where w is about k.",
        ),
        Plot(
            "winnowing-density",
            "Density of three selections",
            "window w",
            "density × (w + 1)",
            series | computed,
            log_x=True,
            dashed=frozenset(computed),
        ),
        checks=(
            *(Check(f"density of winnow × (w + 1) at w = {w}", measured["winnow"][w], 1.97, 2.03) for w in (10, 100)),
            Check("density of open-closed × (w + 1) at w = 100", measured["open-closed"][100], 1.6, 1.8),
            Check("density of mod-minimizer × (w + 1) at w = 20", measured["mod-minimizer"][20], 1.2, 1.7),
        ),
    )


def larger_window(chars: str) -> Part:
    stored = set(fingerprints(chars, K, W, robust=False)[1])
    shares = {}
    for w in (W, 2 * W, 4 * W):
        questions = fingerprints(chars, K, w, robust=False)[1]
        shares[w] = len(questions), sum(at in stored for at in questions)
    return Part(
        "Section 3.2: a question with a larger window",
        "The paper notes that a question may be winnowed with a larger window than the database: its fingerprints are"
        " a subset of those stored, so it costs fewer lookups.",
        Table(
            f"Fingerprints of {len(chars):,} random characters, stored with w = {W}",
            ("window of the question", "its fingerprints", "of these stored", "paper"),
            [(str(w), f"{all_:,}", f"{found:,}", "all") for w, (all_, found) in shares.items()],
        ),
        checks=(
            Check(
                "fingerprints of larger windows that are not stored",
                sum(all_ - found for all_, found in shares.values()),
                0,
                0,
            ),
        ),
    )


# --- real pages -------------------------------------------------------------------------------------------------------


def real_pages(run: PaperRun) -> Part:
    names = ["public"] if run.quick else ["whole", *(["manuals"] if run.has("manuals") else [])]
    columns: dict[str, list[str]] = {}
    checks: list[Check] = []
    for name in names:
        size = sum(page.size for page in run.pages(name))
        texts = [record.text for record in run.records(name)]
        for form, chars in (
            ("no white space", "".join("".join(text.split()) for text in texts)),
            ("canonical text", "".join(canonical_text(text).chars for text in texts)),
        ):
            run.progress(f"{name}, {form}")
            column, gap = figures_of(chars)
            columns[f"`{name}`, {form}"] = [f"{len(texts):,}", f"{size:,}", *column]
            checks.append(Check(f"largest gap of winnowing, {name}, {form}", gap, W, W))
    paper = (
        ("pages", "500,000"),
        ("total bytes", "7,182,692,852"),
        ("text characters", "1,940,576,448"),
        ("hashes computed", "1,940,576,399"),
        ("winnowing fingerprints", "38,530,846"),
        ("– measured density", "0.019855"),
        ("– expected density", f"{EXPECTED:.6f}"),
        ("– density of robust winnowing", "0.019829"),
        (f"fingerprints for 0 mod {P}", "38,761,128"),
        ("– measured density", "0.019974"),
        ("– longest run with no fingerprint", "29,983"),
        ("– longest run, winnowing", "less than 100"),
    )
    return Part(
        "Figure 3: real pages",
        "The paper fingerprints 500,000 HTML pages, whose texts follow each other as one, and finds densities close to"
        " the expected ones. Robust winnowing keeps a little less. With 0 mod 50 it found a run of 29,983 hashes"
        " without a fingerprint, and names long repetitive texts as the cause. The pages here have hardly any: their"
        " longest runs are about as long as those of random text, above. The counts cannot be compared, only the"
        " densities: the paper's crawl is not public.",
        Table(
            f"k = {K}, w = {W}",
            ("", "paper", *columns),
            [(*row, *(column[i] for column in columns.values())) for i, row in enumerate(paper)],
            "Winnowing is plain here, as in the paper's figure 3; this software uses robust winnowing. Densities differ"
            " from those of random text by more than chance, because pages repeat whole passages: a passage that is on"
            " a thousand pages counts a thousand times.",
        ),
        checks=tuple(checks),
    )


def figures_of(chars: str) -> tuple[list[str], int]:
    """Return the figures of the paper's figure 3 from the third row on, and the largest gap of robust winnowing."""
    hashes = len(chars) - K + 1
    plain = len(fingerprints(chars, K, W, robust=False)[0])
    robust, mod_p = fingerprints(chars, K, W)[1], fingerprints(chars, K, W, "mod-p")[1]
    gap = largest_gap(robust)
    figures = [
        f"{len(chars):,}",
        f"{hashes:,}",
        f"{plain:,}",
        f"{plain / hashes:.6f}",
        f"{EXPECTED:.6f}",
        f"{len(robust) / hashes:.6f}",
        f"{len(mod_p):,}",
        f"{len(mod_p) / hashes:.6f}",
        f"{largest_gap(mod_p) - 1:,}",
        str(gap - 1),
    ]
    return figures, gap


def low_entropy(length: int = 100_000) -> Part:
    noise = random_text(length, seed=2)
    texts = {
        "000000…": "0" * length,
        "abbaabba…": "abba" * (length // 4),
        "zeros with an odd character in 500": "".join(odd if at % 500 == 250 else "0" for at, odd in enumerate(noise)),
        "random": noise,
    }
    rows, robust = [], {}
    for name, chars in texts.items():
        plain, robust[name], mod_p = density(chars, robust=False), density(chars), density(chars, "mod-p")
        gap = largest_gap(fingerprints(chars, K, W)[1])
        rows.append((name, f"{plain:.4f}", f"{robust[name]:.4f}", f"{mod_p:.4f}", str(gap)))
    return Part(
        "Section 5.1: low-entropy texts",
        "In a text of zeros, all k-grams are equal. Plain winnowing keeps nearly all of them, as it must take the"
        " rightmost. Robust winnowing keeps one in a window: the paper states that the density falls from nearly 1 to"
        " 1/w = 0.01. With 0 mod p, all or none are kept.",
        Table(
            f"Density on {length:,} characters, k = {K}, w = {W}",
            ("text", "winnowing", "robust winnowing", f"0 mod {P}", "largest gap, robust"),
            rows,
            "Paper, for zeros: winnowing 1, robust winnowing 0.01, 0 mod p either 0 or 1.",
        ),
        checks=(
            Check("density of robust winnowing on zeros, × w", robust["000000…"] * W, 0.999, 1.0),
            Check("density of robust winnowing on abba, × w", robust["abbaabba…"] * W, 0.99, 1.05),
        ),
    )


def paper_code(run: PaperRun) -> Part:
    chars = "".join(record.text for record in run.records("public"))
    chars = canonical_text(chars).chars.encode("ascii", "ignore").decode()[: 1_000_000 if run.quick else None]
    loop = c_peer("circular_buffer")(chars, K, W)
    ours = fingerprints(chars, K, W, robust=False)
    assert isinstance(loop, tuple)
    theirs = set(zip(*loop, strict=True))
    differ = len(theirs ^ set(zip(*ours, strict=True)))
    return Part(
        "Figure 5: the paper's code",
        "The paper lists its inner loop, over a circular buffer of hashes. `benchmarks/peers/circular_buffer.c` is"
        " written after it, with this software's hash function. It starts at the first full window. How fast both are"
        " is in [the benchmarks](../../benchmarks/README.md).",
        Table(
            f"Fingerprints of {len(chars):,} characters of real pages",
            ("", "fingerprints"),
            [
                ("the loop of figure 5", f"{len(theirs):,}"),
                ("this software, plain winnowing", f"{len(ours[0]):,}"),
                ("only one of the two has", str(differ)),
            ],
        ),
        checks=(Check("fingerprints that differ from the paper's loop", differ, 0, 0),),
    )
