"""Runs of a text that pages have: what many have is one run."""

from __future__ import annotations

from opensearch_winnow.answers.asking.quotes import quoted_runs
from opensearch_winnow.queries.asking.matches import Match
from opensearch_winnow.queries.scores import Passage
from tests.cli.sample_card import card

CARD = card._replace(cluster="", text_digest="", site="")
TEXT = "word " * 400


def match(*spans: tuple[int, int]) -> Match:
    return Match(CARD, 0.5, 0.5, 0.5, "exact", 0.0, [Passage(*span, *span) for span in spans])


def test_mirrors_that_end_a_little_later_have_the_same_run() -> None:
    runs = quoted_runs(TEXT, [match((0, 500)), match((0, 500)), match((3, 510), (600, 700)), match((600, 1_000))])
    found = [(run.number, run.start, run.end, run.matches, run.words) for run in runs]
    assert found == [(1, 0, 510, {0, 1, 2}, 102), (2, 600, 1_000, {3}, 80), (3, 600, 700, {2}, 20)]


def test_a_run_within_another_and_one_that_a_page_has_twice() -> None:
    (whole, part) = quoted_runs(TEXT, [match((0, 1_000)), match((300, 600))])
    assert (whole.matches, part.matches) == ({0}, {1})
    (run,) = quoted_runs(TEXT, [match((0, 500), (0, 500))])
    assert (run.matches, run.pages) == ({0}, 1)
    assert quoted_runs(TEXT, [match()]) == []
