"""Deduplication keeps and drops the same rows as brute force, for each way to match and each rule of what is kept."""

from __future__ import annotations

import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from random import Random
from typing import Any

import pytest
from hypothesis import example, given, settings, strategies as st

from opensearch_winnow.clusters.deduplication import containments
from opensearch_winnow.clusters.deduplication.deciding import decide_rows
from opensearch_winnow.clusters.deduplication.decisions import Deduplication
from opensearch_winnow.clusters.deduplication.options import (
    MATCHES,
    DeduplicationError,
    DeduplicationOptions,
    KeepRule,
    Match,
)
from opensearch_winnow.clusters.deduplication.row_columns import MISS_PROBABILITY, min_long_shingles
from opensearch_winnow.clusters.result import band_probability
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows import FailedRow, Row
from opensearch_winnow.queries.compare import side
from tests.clusters.conftest import SCHEMES, START, texts, words
from tests.cython_core.reference import symbols

KEEP = ("earliest", "newest", "longest", "source", "best:score", "lowest:score")
Sets = list[frozenset[object]]


def rows_of(texts: Iterable[str]) -> list[Row]:
    return [Row(number, 0, Page("id", text=text)) for number, text in enumerate(texts)]


def small_rows(random: Random, count: int) -> list[Row]:
    """Return rows with few different ids, of two sources, some with a time and some with a score."""
    made = texts(random, count)
    sources = sorted(random.randrange(2) for _ in made)
    times = [random.choice([None, *(START + timedelta(seconds=second) for second in range(3))]) for _ in made]
    scores = [random.choice([None, "no number", 1, 2.5, "3", float("nan")]) for _ in made]
    times[:1], scores[:1] = [START], [1]  # a rule must rank a row
    dated = enumerate(zip(made, times, strict=True))
    pages = [Page(f"id {number % 3}", text=text, fetched_at=time) for number, (text, time) in dated]
    return list(map(Row, range(len(made)), sources, pages, scores))


def sets_of(rows: Sequence[Row], scheme: Scheme) -> Sets:
    """Return the shingles of each row; of one without words, its text."""
    return [frozenset(side(row.page.text or "", scheme).shingles or [(row.page.text or "").strip()]) for row in rows]


def in_order(rows: Sequence[Row], keep: str) -> list[int]:
    """Return the numbers of rows in the order of a rule, written out for each."""

    def time(row: Row) -> float:
        return float("inf") if row.page.fetched_at is None else row.page.fetched_at.timestamp()

    def score(row: Row) -> float:
        numbers: dict[object, float] = {1: 1.0, 2.5: 2.5, "3": 3.0}
        return numbers.get(row.value, float("-inf" if keep == "best:score" else "inf"))

    ranks: dict[str, Callable[[Row], tuple[float, ...]]] = {
        "earliest": lambda row: (time(row),),
        "newest": lambda row: (row.page.fetched_at is None, -time(row) if row.page.fetched_at else 0),
        "longest": lambda row: (-len((row.page.text or "").strip()), time(row)),
        "source": lambda row: (row.source, time(row)),
        "best:score": lambda row: (-score(row), time(row)),
        "lowest:score": lambda row: (score(row), time(row)),
    }
    return sorted(range(len(rows)), key=lambda number: (*ranks[keep](rows[number]), number))


def resemblance(a: frozenset[object], b: frozenset[object]) -> float:
    return len(a & b) / len(a | b)


def containment(inner: frozenset[object], outer: frozenset[object]) -> float:
    return len(inner & outer) / len(inner)


def near_representatives(sets: Sets, order: list[int], threshold: float) -> list[int]:
    """Let each row follow the first representative that it resembles, or become one."""
    found = list(range(len(sets)))
    representatives: list[int] = []
    for number in order:
        like = (each for each in representatives if resemblance(sets[number], sets[each]) >= threshold)
        found[number] = next(like, number)
        representatives += [number] if found[number] == number else []
    return found


def decided(rows: list[Row], options: DeduplicationOptions, **others: Any) -> Deduplication:
    """Decide on rows, and check what the result counts."""
    result = decide_rows(rows, options, **others)
    assert result.rows == len(rows) == result.kept + result.dropped + result.failed
    assert result.dropped == sum(getattr(result, name) for name in MATCHES)
    sizes = [each.rows for each in result.largest_clusters]
    assert sizes == sorted(sizes, reverse=True)
    return result


seeds = st.integers(0, 2**32)


@settings(max_examples=8)
@given(seed=seeds, keep=st.sampled_from(KEEP), threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]))
def test_near(seed: int, keep: str, threshold: float) -> None:
    scheme = SCHEMES[seed % 2]
    rows = small_rows(Random(seed), 40)
    sets, order = sets_of(rows, scheme), in_order(rows, keep)
    result = decided(rows, DeduplicationOptions(min_resemblance=threshold, keep=keep), scheme=scheme)
    assert list(result.representatives) == near_representatives(sets, order, threshold)
    for number, representative in enumerate(result.representatives):
        assert result.is_kept(representative)
        assert result.is_kept(number) == (number == representative)
        exact = resemblance(sets[number], sets[representative])
        assert result.similarities[number] == pytest.approx(exact, abs=0.15)  # some are estimates


@settings(max_examples=4)
@given(seed=seeds, keep=st.sampled_from(KEEP))
def test_exact(seed: int, keep: str) -> None:
    rows = small_rows(Random(seed), 40)
    order = in_order(rows, keep)
    result = decided(rows, DeduplicationOptions(match="exact", keep=keep))
    first: dict[str, int] = {}
    for number in order:
        text = (rows[number].page.text or "").strip()
        words_of = " ".join(text.replace(",", " ").split()) if any(map(str.isalnum, text)) else text
        assert result.representatives[number] == first.setdefault(words_of, number)
        assert result.outcome(number) == ("kept" if first[words_of] == number else "exact")


OPERANDS = ("x", "y", "12", "5", "1", "Café", "Cafe\u0301")
OPERATORS = ("+", "-", "*", "/", "<", ">", "=", ".", "")


def formulas(random: Random, count: int) -> list[str]:
    """Return short texts with operators, some of them the same but for case, spaces, line breaks or Unicode form."""
    made = []
    for _ in range(count):
        a, b = random.choices(OPERANDS, k=2)
        gap, end = random.choice(["", " "]), random.choice(["", " ", "\n", "\r\n so", "\n so", "\r so"])
        made.append(f"what is {a}{gap}{random.choice(OPERATORS)}{gap}{b}{end}")
    return made


@settings(max_examples=4)
@given(seed=seeds, match=st.sampled_from(["identical", "exact", "near", "contained"]))
def test_texts_with_operators(seed: int, match: Match) -> None:
    texts_of_rows = formulas(Random(seed), 80)
    rows = rows_of(texts_of_rows)
    result = decided(rows, DeduplicationOptions(match=match))

    def key(text: str) -> object:
        composed = unicodedata.normalize("NFC", text)
        same = composed.replace("\r\n", "\n").replace("\r", "\n").strip()
        return same if match == "identical" else re.findall(r"\w+", composed.lower())

    first: dict[str, int] = {}
    differ = []
    for number, text in enumerate(texts_of_rows):
        representative = first.setdefault(repr(key(text)), number)
        assert result.representatives[number] == representative
        why = "identical" if match == "identical" else "exact"
        assert result.outcome(number) == ("kept" if representative == number else why)
        texts_of_both = (unicodedata.normalize("NFC", each) for each in (text, texts_of_rows[representative]))
        if operator.ne(*map(symbols, texts_of_both)):
            differ.append(number)
    assert result.other_symbols == len(differ)
    example = result.other_symbols_example
    assert (None if example is None else example.row) == (differ[0] if differ else None)


def nested_texts(random: Random, count: int) -> list[str]:
    """Return texts that contain one another, and some that overlap."""
    base = words(random, 150)
    made = []
    for _ in range(count):
        start = random.randrange(100)
        part = base[start : start + random.choice([12, 20, 40, 50])]
        made.append(" ".join([*part, *words(random, random.choice([0, 3, 10, 30]))]))
    return made


@settings(max_examples=8)
@given(seed=seeds, threshold=st.sampled_from([0.3, 0.5, 0.8, 1.0]), keep=st.sampled_from(KEEP))
def test_contained(seed: int, threshold: float, keep: str) -> None:
    random = Random(seed)
    scheme = SCHEMES[1]
    rows = small_rows(random, 15)
    rows += [Row(len(rows) + n, 1, Page("id", text=text)) for n, text in enumerate(nested_texts(random, 25))]
    sets, order = sets_of(rows, scheme), in_order(rows, keep)
    options = DeduplicationOptions(match="contained", min_containment=threshold, keep=keep)
    result = decided(rows, options, scheme=scheme)
    kept = result.kept_numbers()
    for number, representative in enumerate(result.representatives):
        assert result.is_kept(representative)
        assert containment(sets[number], sets[representative]) >= threshold
        assert result.similarities[number] == pytest.approx(containment(sets[number], sets[representative]))
    for one in kept:
        assert not [other for other in kept if other != one and containment(sets[one], sets[other]) >= threshold]
    place = {number: at for at, number in enumerate(order)}
    for number, representative in enumerate(result.representatives):
        if sets[number] == sets[representative]:
            assert place[representative] <= place[number]


def footed_texts(random: Random, count: int) -> list[str]:
    """Return texts that end in one of two footers, most of them inside others or nearly so."""
    footers = [words(random, random.choice([8, 30])) for _ in range(2)]
    made: list[list[str]] = []
    for _ in range(count):
        text = words(random, random.choice([4, 10, 20]))
        if made and random.random() < 0.6:  # a container, or the part of an earlier text
            text = random.choice(made)[random.choice([0, 0, 3]) :]
            text = [*words(random, random.choice([0, 1, 5, 40])), *text, *words(random, random.choice([0, 0, 2]))]
        made.append([*text, *random.choice([*footers, []])])
    random.shuffle(made)
    return [" ".join(text) for text in made]


@pytest.mark.check
@settings(max_examples=6)
@given(seed=seeds, threshold=st.sampled_from([0.3, 0.5, 0.8, 0.9, 0.95, 1.0]), earlier=st.sampled_from([0, 0, 15]))
@example(seed=2, threshold=0.5, earlier=0)  # rows are dropped for rows that are dropped later, and kept again
def test_no_crowd_hides_a_row_that_is_in_another(seed: int, threshold: float, earlier: int) -> None:
    scheme = SCHEMES[1]
    made = [Row(n, 0, Page(f"id {n}", text=text)) for n, text in enumerate(footed_texts(Random(seed), 60))]
    old, rows = made[:earlier], [Row(n, 0, row.page) for n, row in enumerate(made[earlier:])]
    options = DeduplicationOptions(match="contained", min_containment=threshold, compared=2 + seed % 4)
    result = decided(rows, options, earlier_set=old, scheme=scheme)
    assert result.not_compared == 0
    sets, old_sets = sets_of(rows, scheme), sets_of(old, scheme)
    for number, representative in enumerate(result.representatives):
        theirs = sets[representative] if representative >= 0 else old_sets[-1 - representative]
        assert containment(sets[number], theirs) >= threshold
        assert representative < 0 or result.is_kept(representative)
    kept = result.kept_numbers()
    for one in kept:
        others = [*(sets[other] for other in kept if other != one), *old_sets]
        assert max(containment(sets[one], other) for other in others) < threshold


def crowd_with_a_footer(random: Random, count: int) -> list[Row]:
    """Return rows of 40 words and a footer, and for each of them a row that has it and 400 words more."""
    footer = words(random, 80)
    texts_of_rows = []
    for _ in range(count):
        inner = [*words(random, 40), *footer]
        texts_of_rows += [inner, [*words(random, 200), *inner, *words(random, 200)]]
    random.shuffle(texts_of_rows)
    return rows_of(map(" ".join, texts_of_rows))


@pytest.mark.parametrize(
    ("count", "threshold"),
    [(120, 1.0), *(pytest.param(1_500, each, marks=pytest.mark.check) for each in (0.5, 0.8, 0.9, 0.95, 1.0))],
)
def test_rows_inside_others_are_dropped_whatever_footer_they_share(count: int, threshold: float) -> None:
    rows = crowd_with_a_footer(Random(count), count)
    result = decide_rows(rows, DeduplicationOptions(match="contained", min_containment=threshold))
    short = [row.number for row in rows if len((row.page.text or "").split()) == 120]
    assert [number for number in range(len(rows)) if not result.is_kept(number)] == short
    assert (len(short), result.not_compared) == (count, 0)


def test_rows_that_a_crowd_keeps_from_being_compared_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    paragraphs = [words(Random(n), 12) for n in range(8)]
    chosen = [Random(n).sample(paragraphs, 4) for n in range(60)]
    rows = rows_of(" ".join(sum(each, [f"own{n}"])) for n, each in enumerate(chosen))
    options = DeduplicationOptions(match="contained", min_containment=0.6, compared=2)
    assert decide_rows(rows, options).not_compared == 0
    monkeypatch.setattr(containments, "PAIRS_PER_ROW", 0)
    monkeypatch.setattr(containments, "MIN_PAIRS", 0)
    result = decide_rows(rows, options)
    assert 0 < result.not_compared <= result.kept
    assert result.to_dict()["not_compared"] == result.not_compared


@pytest.mark.parametrize("keep", KEEP)
def test_the_rule_decides_between_two_that_contain_each_other(keep: str) -> None:
    random = Random(1)
    shared = words(random, 100)
    rows = [
        Row(0, 0, Page("a", text=" ".join(shared + words(random, 20)), fetched_at=START), 1),
        Row(1, 1, Page("b", text=" ".join(shared + words(random, 30)), fetched_at=START + timedelta(1)), 2),
    ]
    wanted = [0] if keep in ("earliest", "source", "lowest:score") else [1]
    options = DeduplicationOptions(match="contained", min_containment=0.6, keep=keep)
    assert decide_rows(rows, options).kept_numbers() == wanted
    assert decide_rows(rows, DeduplicationOptions(keep=keep, min_resemblance=0.5)).kept_numbers() == wanted


@settings(max_examples=8)
@given(seed=seeds, match=st.sampled_from(["identical", "exact", "near", "contained"]))
def test_rows_of_an_earlier_set_are_dropped_whichever_of_its_rows_they_are_like(seed: int, match: Match) -> None:
    random = Random(seed)
    scheme = SCHEMES[1]
    everything = small_rows(random, 40)
    earlier = [Row(n, 0, row.page) for n, row in enumerate(everything[::2])]
    rows = [Row(n, 0, row.page, row.value) for n, row in enumerate(everything[1::2])]
    options = DeduplicationOptions(match=match, keep="newest")
    result = decided(rows, options, earlier_set=earlier, scheme=scheme)
    assert result.against_rows == len(earlier)
    assert result.against == sum(number < 0 for number in result.representatives)
    sets, earlier_sets = sets_of(rows, scheme), sets_of(earlier, scheme)
    measure = {"near": resemblance, "contained": containment}.get(match)
    for number, own in enumerate(sets):
        representative = result.representatives[number]
        if measure is not None:
            like = [other for other, theirs in enumerate(earlier_sets) if measure(own, theirs) >= options.min_score]
            assert (representative < 0) == bool(like)
            assert representative >= 0 or -1 - representative in like
        if representative < 0:
            assert result.ids[representative] == earlier[-1 - representative].page.url


def test_failed_rows_are_counted_and_others_are_in_their_place() -> None:
    rows: list[Row | FailedRow] = [
        FailedRow(0, 0, "a.jsonl, line 1", "not JSON"),
        Row(1, 0, Page("x", text="some words")),
        FailedRow(2, 0, "a.jsonl, line 3", "not JSON"),
        Row(3, 0, Page("x", html=b"\x1f\x8bno", codings=("gzip",))),
        Row(4, 0, Page("x", text="Some words!")),
    ]
    failed = []
    result = decide_rows(rows, on_failure=lambda row, page: failed.append((row.number, page is not None)))
    assert [result.outcome(number) for number in range(5)] == ["failed", "kept", "failed", "failed", "exact"]
    assert failed == [(0, False), (2, False), (3, True)]
    assert result.failures["not JSON"] == 2
    assert result.failures.total() == result.failed == 3
    assert result.representatives[4] == 1


@pytest.mark.parametrize("match", MATCHES)
def test_no_rows_and_texts_without_words(match: Match) -> None:
    result = decide_rows([], DeduplicationOptions(match=match))
    assert result.to_dict()["rows"] == result.kept == 0
    assert decide_rows([], earlier_set=[Row(0, 0, Page("x", text="a"))]).rows == 0
    rows = rows_of(["!!!", "???", "!!!", "", "", "a"])  # they are compared as they are
    assert decide_rows(rows, DeduplicationOptions(match=match)).kept_numbers() == [0, 1, 3, 5]


@pytest.mark.parametrize("threshold", [0.1, 0.3, 0.5, 0.7, 0.9, 1.0])
def test_long_rows_are_hardly_ever_missed(threshold: float) -> None:
    scheme = Scheme()
    shared = 2 * threshold / (1 + threshold) * min_long_shingles(threshold, scheme)
    missed = (1 - 1 / scheme.modulus) ** shared * (1 - band_probability(threshold, scheme))
    assert missed <= MISS_PROBABILITY


def test_unknown_rules_and_impossible_options_are_refused() -> None:
    for text in ("", "best", "best:", "first", "highest:x"):
        with pytest.raises(DeduplicationError, match="the row to keep is chosen by earliest"):
            KeepRule.of(text)
    with pytest.raises(DeduplicationError, match="identical, exact, near, contained"):
        DeduplicationOptions(match="fuzzy")  # type: ignore[arg-type]
    with pytest.raises(DeduplicationError, match="above 0 and at most 1"):
        DeduplicationOptions(min_resemblance=0)
    for match, name in (("contained", "min_resemblance"), ("near", "min_containment"), ("exact", "min_resemblance")):
        with pytest.raises(DeduplicationError, match=f"^{name} is for match .*, and match is {match}$"):
            DeduplicationOptions(match=match, **{name: 0.5})  # type: ignore[arg-type]
