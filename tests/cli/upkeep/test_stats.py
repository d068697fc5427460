"""winnow stats: counts, and the power law."""

from __future__ import annotations

import json
import math
from bisect import bisect
from collections import Counter
from collections.abc import Callable
from itertools import accumulate
from pathlib import Path
from random import Random

import pytest
from click import unstyle
from click.testing import Result
from hypothesis import given, strategies as st

from opensearch_winnow.answers.formatting import bins, byte_size
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.operations.upkeep.power_law import power_law, zeta

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]


def token_frequencies(exponent: float, tokens: int = 50_000) -> Counter[int]:
    """Draw tokens from a power law, and count them by the number of pages they are on."""
    random = Random(5)
    law = list(accumulate(n**-exponent for n in range(1, 100_000)))
    return Counter(bisect(law, random.random() * zeta(exponent)) + 1 for _ in range(tokens))


@pytest.mark.parametrize("exponent", [1.6, 2.0, 2.43, 3.5])
def test_the_exponent_of_a_power_law_is_estimated(exponent: float) -> None:
    law = power_law(token_frequencies(exponent))
    assert law is not None
    assert abs(law.exponent - exponent) < 4 * law.error < 0.1
    assert law.distance < 0.01
    assert law.rank_slope is not None
    # The number of pages of a token is proportional to its rank, raised to this power.
    assert law.rank_slope == pytest.approx(-1 / (exponent - 1), rel=0.15)


def test_other_distributions_fit_badly() -> None:
    law = power_law({1: 10, 3: 5_000, 4: 20})
    assert law is not None
    assert law.distance > 0.3


def test_too_few_frequencies_have_no_power_law() -> None:
    assert power_law({}) is None
    assert power_law({1: 100}) is None
    alone = power_law({3: 100})
    assert alone is not None
    assert alone.rank_slope is None


def test_zeta() -> None:
    assert zeta(2) == pytest.approx(math.pi**2 / 6, abs=1e-9)
    assert zeta(4) == pytest.approx(math.pi**4 / 90, abs=1e-9)
    assert zeta(1.5) == pytest.approx(2.612375348685488, abs=1e-9)


@given(st.dictionaries(st.integers(1, 10**7), st.integers(1, 10**6), max_size=30))
def test_bins_count_every_token_and_the_last_is_not_empty(counts: dict[int, int]) -> None:
    shown = bins(counts)
    assert sum(tokens for _, tokens in shown) == sum(counts.values())
    assert not shown or shown[-1][1]
    for label, tokens in shown:
        first, _, last = label.replace(",", "").partition("–")
        assert tokens == sum(count for on, count in counts.items() if int(first) <= on <= int(last or first))


def test_bins_are_labelled_with_their_pages() -> None:
    assert [label for label, _ in bins({1: 1, 1_001: 1})] == [
        "1", "2", "3–10", "11–30", "31–100", "101–300", "301–1,000", "1,001–3,000"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("count", "shown"),
    [(0, "0 bytes"), (999, "999 bytes"), (1_000, "1.0 kB"), (99_949, "99.9 kB"), (99_960, "100 kB"),
     (999_499, "999 kB"), (999_600, "1.0 MB"), (2.5e9, "2.5 GB"), (3e15, "3,000.0 TB")],
)  # fmt: skip
def test_sizes(count: float, shown: str) -> None:
    assert byte_size(count) == shown


def test_json_equals_the_answer_of_the_library(winnow: Winnow, crawl: Path) -> None:
    done = winnow("stats", "--store", crawl, "--json")
    answer = json.loads(done.stdout)
    with Index.open(crawl, create=False) as index:
        statistics = index.statistics()
        scheme = index.scheme
    assert done.exit_code == 0
    assert (answer["pages"], answer["urls"], answer["sites"]) == (7, 6, 5)
    assert answer["crawls"] == {"second": 6, "first": 1}
    assert answer["top_sites"] == {
        "example.org": 2, "example.com": 2, "mirror.example": 1, "www.example.org": 1, "example.net": 1
    }  # fmt: skip
    assert (answer["first"], answer["last"]) == ("2023-05-06", "2024-04-01")
    assert answer["scheme"]["id"] == scheme.id
    assert (answer["scheme"]["noise"], answer["scheme"]["guarantee"]) == (50, 149)
    for field, counts in statistics.frequencies.items():
        assert dict(answer["tokens"][field]["frequencies"]) == counts
    prints = answer["tokens"]["fingerprints"]
    assert prints["different"] == sum(tokens for _, tokens in prints["frequencies"])
    assert prints["total"] == sum(on * tokens for on, tokens in prints["frequencies"]) > prints["different"]
    assert answer["power_law"].keys() == {"exponent", "error", "distance", "rank_slope"}
    assert answer["sizes"] == statistics.sizes
    assert answer["bytes"] == sum(statistics.sizes.values())
    assert answer["bytes_per_page"] == pytest.approx(answer["bytes"] / 7)
    assert answer["format"]


def test_tables_on_a_terminal(on_terminal: OnTerminal, crawl: Path) -> None:
    code, shown = on_terminal("winnow", "stats", "--store", crawl.name, COLUMNS="80")
    lines = unstyle(shown).splitlines()
    assert code == 0
    assert lines[0] == crawl.name
    assert lines[1] == "7 pages (captures) of 6 URLs on 5 sites, 2023-05-06 to 2024-04-01"
    assert [head for head in ("Crawls", "Sites", "Fingerprints", "Size") if head in lines] == [
        "Crawls", "Sites", "Fingerprints", "Size"
    ]  # fmt: skip
    assert max(map(len, lines[:-1])) <= 80
    assert any(line.startswith("power law: fingerprints ∝ pages^−") for line in lines)
    assert any(line.startswith("as in the winnowing paper: frequency ∝ rank^−") for line in lines)
    assert lines[-1].startswith("→ winnow similar http://example.org/mill")


def test_rows(winnow: Winnow, crawl: Path) -> None:
    head, *rows = [line.split("\t") for line in winnow("stats", "--store", crawl).stdout.splitlines()]
    assert head == ["part", "name", "value"]
    values = {(part, name): value for part, name, value in rows}
    assert values["count", "pages"] == "7"
    assert values["crawl", "second"] == "6"
    assert int(values["bytes", "all"]) == sum(
        int(value) for (part, name), value in values.items() if part == "bytes" and name != "all"
    )


def test_a_missing_store_is_refused(winnow: Winnow, tmp_path: Path) -> None:
    done = winnow("stats", "--store", tmp_path / "no.winnow")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "no.winnow" in done.stderr


def test_one_duplicate(winnow: Winnow, tmp_path: Path) -> None:
    with Index.open(tmp_path / "crawl.winnow") as index:
        index.add([Page(f"http://a.example/{number}", text="Nobody in the valley. " * 9) for number in range(2)])
    shown = winnow("stats", "--store", tmp_path / "crawl.winnow", "--color", "always").stdout
    assert "1 duplicates an earlier page: content 1" in unstyle(shown).splitlines()
