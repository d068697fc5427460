"""The tables of the Koala paper: match ratios of all documents against all, with its settings varied."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from statistics import correlation
from typing import NamedTuple

from benchmarks.papers.koala_matching import (
    COLUMNS,
    RANGES,
    Collection,
    Koala,
    Matches,
    distribution,
    distribution_cells,
    percent,
)
from benchmarks.papers.part import Check, Part
from benchmarks.papers.plot import Plot
from benchmarks.table import Table

PAPER = "paper"
# Measured with this software, by corpus: substrings that are one consonant longer would change it by 4 % and more.
MATCHES_PER_DOCUMENT = {"postgresql": 1.781, "whole": 55.27, "public": 21.98}
HALF = 0.5
BASELINE = ("763", "98", "53", "25", "15", "23", "372 (6)")


class Setting(NamedTuple):
    """A row of one of the paper's tables."""

    words: str
    koala: Koala
    paper: tuple[str, ...]


def ratio_table(title: str, settings: list[Setting], collections: dict[str, Collection], note: str = "") -> Table:
    rows = []
    for setting in settings:
        rows.append((setting.words, PAPER, *setting.paper))
        rows += [(setting.words, f"`{name}`", *cells(each, setting.koala)) for name, each in collections.items()]
    return Table(title, ("", "", *COLUMNS), rows, note)


def cells(collection: Collection, koala: Koala) -> list[str]:
    return distribution_cells(collection.all_against_all(koala))


def pair_checks(
    words: str, koala: Koala, collections: dict[str, Collection], low: float, high: float
) -> tuple[Check, ...]:
    """Return checks of how many matches there are with other settings, relative to the baseline."""
    return tuple(
        Check(f"{words}, {name}", each.pairs(koala) / each.pairs(), low, high) for name, each in collections.items()
    )


def table_1(collections: dict[str, Collection]) -> Part:
    checks: list[Check] = []
    for name, collection in collections.items():
        own = sum(ratio > HALF for ratio in own_ratios(collection, Koala()))
        others, pinned = collection.pairs() / len(collection.texts), MATCHES_PER_DOCUMENT[name]
        checks += [
            Check(f"share of documents that find themselves, {name}", own / len(collection.texts), 1, 1),
            Check(f"matches with other documents for each, {name}", others, 0.98 * pinned, 1.02 * pinned),
        ]
    return Part(
        "Table 1: all documents against all",
        "The paper searches for each of its reports and counts the matches by their ratio.",
        ratio_table("Number of matches", [Setting("baseline", Koala(), BASELINE)], collections),
        checks=tuple(checks),
    )


PAPER_PAIRS = (  # match ratios in percent, selective and full
    ("45", "57"), ("29", "55"), ("9", "8.7"), ("5", "12"), ("3", "2.6"), ("1", "3.0"), ("1", "0.2"), ("1", "0.08"),
    ("1", "0.01"), ("1", "0.01"), ("0", "0.3"), ("0", "0.19"), ("0", "0.16"), ("0", "0.03"), ("0", "0"),
)  # fmt: skip


def table_2(collections: dict[str, Collection]) -> Part:
    name, collection = next(iter(collections.items()))
    (full, sizes), selective = collection.full, collection.all_against_all()
    sample = sample_pairs(selective, full)
    rows = [
        (*paper, *here) for paper, here in zip(PAPER_PAIRS, pair_cells(sample, selective, full, sizes), strict=True)
    ]
    summary = []
    checks = []
    for each, other in collections.items():
        close, correlated, found = reliability(other)
        summary.append(
            f"In `{each}`, {100 * close:.0f} % of the pairs with a match ratio of 5 % or more are within a factor of"
            f" two. The correlation over all pairs is {correlated:.2f}. Of the pairs that share a tenth by full"
            f" fingerprints, {100 * found:.1f} % are found."
        )
        checks += [
            Check(f"correlation of selective and full fingerprints, {each}", correlated, 0.8, 1),
            Check(f"share found of pairs that share a tenth, {each}", found, 0.9, 1),
        ]
    return Part(
        "Table 2: selective beside full fingerprints",
        "The paper compares the match ratio with that of all substrings of two documents, for 15 pairs. It says that"
        " the two are within a factor of two of each other, and usually much closer. Not all of its rows are: 5 stands"
        " beside 12, 1 beside 3.0, and 1 beside 0.01. Low ratios are coarse: one shared fingerprint of 100 is 1 %, and"
        f" none is 0. Here, the pairs are drawn from each range of match ratios in `{name}`, and both ratios are shares"
        " of the stored document.\n\n" + " ".join(summary),
        Table(
            "Match ratio in percent, from the highest on: a row has one pair of the paper and another one of here",
            ("paper, selective", "paper, full", "here, selective", "here, full", "matches/total"),
            rows,
        ),
        checks=tuple(checks),
    )


def sample_pairs(selective: Matches, full: Matches) -> list[tuple[int, int]]:
    """Return 15 pairs: two from each range, or fewer where there are fewer, and pairs that share a little unseen."""
    random, sample = Random(5), list[tuple[int, int]]()
    for low, high in reversed(RANGES):
        pairs = sorted(
            pair for pair, ratio in selective.items() if low - 0.5 <= 100 * ratio < high + 0.5 and pair[0] != pair[1]
        )
        sample += random.sample(pairs, min(2, len(pairs)))
    unseen = sorted(full.keys() - selective.keys())
    sample.sort(key=selective.__getitem__, reverse=True)
    return sample + random.sample(unseen, len(PAPER_PAIRS) - len(sample))


def pair_cells(
    pairs: list[tuple[int, int]], selective: Matches, full: Matches, sizes: list[int]
) -> Iterator[tuple[str, ...]]:
    for pair in pairs:
        total, ratio = sizes[pair[1]], full.get(pair, 0.0)
        yield f"{100 * selective.get(pair, 0):.0f}", f"{100 * ratio:.2g}", f"{round(ratio * total)}/{total}"


def reliability(collection: Collection) -> tuple[float, float, float]:
    """Return the share of matches within a factor of two, the correlation, and the share found of those at a tenth."""
    (full, _), selective = collection.full, collection.all_against_all()
    pairs = [pair for pair in full.keys() | selective.keys() if pair[0] != pair[1]]
    high = [pair for pair in pairs if selective.get(pair, 0) >= 0.05]
    close = sum(0.5 <= selective[pair] / full.get(pair, 1e-9) <= 2 for pair in high) / len(high)
    tenth = [pair for pair in pairs if full.get(pair, 0) >= 0.1]
    found = sum(pair in selective for pair in tenth) / len(tenth)
    ordered = sorted(pairs)
    return (
        close,
        correlation([selective.get(pair, 0) for pair in ordered], [full.get(pair, 0) for pair in ordered]),
        found,
    )


def table_3(collections: dict[str, Collection]) -> Part:
    settings = [
        Setting("baseline", Koala(), BASELINE),
        Setting("frequency check off", Koala(frequency_check=False), ("896", "107", "53", "25", "15", "23", "372 (6)")),
        Setting("start included", Koala(skipped=0), ("2,618", "194", "100", "32", "15", "19", "374 (8)")),
        Setting(
            "both", Koala(frequency_check=False, skipped=0), ("17,598", "2,415", "334", "35", "17", "19", "374 (8)")
        ),
    ]
    unchecked, with_start, neither = (setting.koala for setting in settings[1:])
    seen = [
        f"In `{name}`, the matches with other documents are {each.pairs():,}; without the check"
        f" {each.pairs(unchecked):,}, with the start {each.pairs(with_start):,}, and with neither measure"
        f" {each.pairs(neither):,}."
        f" Of those at 1 %, {risen(each, unchecked):,} have a higher ratio without the check."
        for name, each in collections.items()
    ]
    return Part(
        "Table 3: frequency check and the start of documents",
        "The paper switches off the frequency check, includes the first 1,000 characters, and does both. There, each"
        " measure removes low matches, and both together remove most of them.\n\n"
        "Here, the frequency check removes matches, too, but not from every column. It also lowers the ratio of those"
        " that remain: ten fingerprints that it ignores may be ten of the 100 stored. Without it, matches of 1 % move"
        " to higher ratios, so there can be fewer of 1 %, but there are more in all. The start matters less than in"
        " reports of one department. Among Javadoc and licences, leaving it out even adds matches: the fingerprints"
        " that are stored instead are on more pages.\n\n" + " ".join(seen),
        ratio_table("Number of matches", settings, collections),
        checks=pair_checks(
            "matches without the frequency check, of those with it", settings[1].koala, collections, 1, 10
        ),
    )


def risen(collection: Collection, koala: Koala) -> int:
    """Return how many matches of 1 % have a higher ratio with other settings."""
    other = collection.all_against_all(koala)
    return sum(
        percent(ratio) == 1 and percent(other.get(pair, 0)) > 1 for pair, ratio in collection.all_against_all().items()
    )


def table_4(collections: dict[str, Collection]) -> Part:
    random = Koala(rare=False)
    settings = [
        Setting("rare beginnings", Koala(), BASELINE),
        Setting("smallest hashes", random, ("1,634", "177", "104", "43", "17", "29", "376 (10)")),
    ]
    return Part(
        "Table 4: selection without regard to frequency",
        "The paper selects substrings at random instead of those with rare beginnings, and finds more than twice as"
        " many low matches. Here, the substrings with the smallest hashes are selected: a choice at random that is the"
        " same in both documents. In Javadoc, a rare beginning does not tell a rare substring: the navigation at the"
        " end of a page and the methods of Object are there once, and on nearly every page.",
        ratio_table("Number of matches", settings, collections),
        checks=pair_checks("matches with smallest hashes, of those with rare beginnings", random, collections, 0.2, 3),
    )


def table_5(collections: dict[str, Collection]) -> Part:
    paper = {
        10: ("–", "–", "–", "134", "12", "17", "370 (4)"),
        20: ("–", "–", "217", "19", "16", "21", "370 (4)"),
        50: ("–", "442", "43", "39", "18", "21", "369 (3)"),
        100: BASELINE,
        200: ("1,507", "43", "49", "21", "17", "19", "372 (6)"),
        500: ("2,162", "32", "38", "25", "14", "18", "372 (6)"),
    }
    settings = [Setting(f"{stored} stored", Koala(stored=stored), row) for stored, row in paper.items()]
    unseen = [
        f"With {stored} stored, {sum(ratio > HALF for ratio in own)} of {len(own)} documents of `{name}` match"
        f" themselves by more than half, {sum(0 < ratio <= HALF for ratio in own)} by less, and {own.count(0)} not at"
        " all."
        for name, each in collections.items()
        for stored in paper
        if min(own := own_ratios(each, Koala(stored=stored))) <= HALF
    ]
    high = [
        f"{distribution(each.all_against_all(Koala(stored=10, frequency_check=False)))[-1]:,} in `{name}`"
        for name, each in collections.items()
    ]
    return Part(
        "Table 5: stored fingerprints",
        "The paper varies the size of the stored fingerprint. The more is stored, the more low matches are seen. With"
        " ten fingerprints, one that is shared is a tenth. A ratio is rounded up to a whole percent here.\n\n"
        "In the paper and in the manual of PostgreSQL, matches of more than 50 % change little. Among Javadoc"
        " and licences, they grow much with the size, because of the frequency check: it ignores up to ten fingerprints"
        " of a question, which may be all that a document has stored, or half of them. So some documents do not even"
        " find themselves."
        f" {' '.join(unseen)} Without the check, all do, and with 10 stored the matches of more than 50 % are"
        f" {' and '.join(high)}.",
        ratio_table("Number of matches, search fingerprint of 1,000", settings, collections),
        checks=pair_checks("matches with 500 stored, of those with 100", Koala(stored=500), collections, 1, 5),
    )


def own_ratios(collection: Collection, koala: Koala) -> list[float]:
    """Return the match ratio of each document with itself."""
    matches = collection.all_against_all(koala)
    return [matches.get((number, number), 0) for number in range(len(collection.texts))]


def table_6(collections: dict[str, Collection]) -> Part:
    paper = {
        100: ("364", "54", "36", "22", "20", "18", "374 (8)"),
        200: ("520", "66", "50", "19", "17", "24", "371 (5)"),
        500: ("777", "89", "52", "30", "17", "20", "372 (8)"),
        1_000: BASELINE,
        2_000: ("976", "91", "63", "21", "15", "20", "373 (7)"),
        5_000: ("1,064", "101", "62", "32", "16", "21", "372 (6)"),
    }
    settings = [Setting(f"{searched:,} searched", Koala(searched=searched), row) for searched, row in paper.items()]
    return Part(
        "Table 6: search fingerprints",
        "The paper varies the size of the search fingerprint, and finds the result insensitive to it.",
        ratio_table("Number of matches, stored fingerprint of 100", settings, collections),
        checks=pair_checks(
            "matches with 5,000 searched, of those with 1,000", Koala(searched=5_000), collections, 1, 1.5
        ),
    )


def table_7(collections: dict[str, Collection]) -> Part:
    paper = {
        10: ("6,239", "363", "105", "33", "24", "22", "375 (9)"),
        20: BASELINE,
        30: ("411", "70", "49", "22", "10", "20", "371 (5)"),
        40: ("366", "55", "42", "22", "15", "17", "371 (5)"),
        50: ("231", "37", "42", "19", "13", "15", "370 (4)"),
    }
    settings = [Setting(f"{alpha} consonants", Koala(alpha=alpha), row) for alpha, row in paper.items()]
    low = {
        name: [distribution(each.all_against_all(Koala(alpha=alpha)))[0] for alpha in paper]
        for name, each in collections.items()
    }
    low["paper"] = [int(row[0].replace(",", "")) for row in paper.values()]
    return Part(
        "Table 7: the length of substrings",
        "The paper varies the number α of consonants in a substring. Short substrings give many low matches; long ones"
        " lose matches at all levels.",
        ratio_table("Number of matches", settings, collections),
        Plot(
            "koala-length",
            "Matches of 1 % by the length of substrings",
            "consonants of a substring",
            "number of matches",
            {name: list(zip(paper, counts, strict=True)) for name, counts in low.items()},
            log_y=True,
        ),
        (
            *pair_checks("matches with 10 consonants, of those with 20", Koala(alpha=10), collections, 1.2, 20),
            *pair_checks("matches with 50 consonants, of those with 20", Koala(alpha=50), collections, 0.1, 0.8),
        ),
    )


TABLES = (table_1, table_2, table_3, table_4, table_5, table_6, table_7)
