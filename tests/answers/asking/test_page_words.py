"""What is said of a page: what is similar to it, its history, and its watches."""

from __future__ import annotations

from datetime import datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from opensearch_winnow.answers.asking.history import history_summary
from opensearch_winnow.answers.asking.page_answer import PageMatches
from opensearch_winnow.answers.asking.similar_words import similar_summary
from opensearch_winnow.answers.asking.too_short import words_sentence
from opensearch_winnow.answers.asking.watches import watch_report_summary, watches_summary
from opensearch_winnow.operations.asking.history import History, HistoryEntry
from opensearch_winnow.operations.asking.nothing_found import LowerThreshold, WordSearch, lower_threshold
from opensearch_winnow.operations.asking.watches import CheckedWatches, Watch, WatchReport
from opensearch_winnow.queries.asking.matches import Match
from tests.cli.sample_card import card
from tests.sample_matches import sample_matches


@pytest.mark.parametrize(
    ("total", "score", "min_score", "copies", "words"),
    [
        (0, "resemblance", 0.5, 0, "No near-duplicate"),
        (1, "resemblance", 0.5, 0, "1 near-duplicate"),
        (1, "resemblance", 0.8, 1, "1 near-duplicate, an exact copy"),
        (1_200, "resemblance", 0.5, 2, "1,200 near-duplicates, 2 of them exact copies"),
        (3, "resemblance", 0.5, 1, "3 near-duplicates, 1 of them an exact copy"),
        (2, "resemblance", 0.49, 0, "2 pages with a resemblance of at least 49 %"),
        (0, "containment", 0.3, 0, "No page contains at least 30 % of it"),
        (2, "containment", 1.0, 2, "2 pages contain all of it, all exact copies"),
        (1, "contained", 0.5, 0, "1 page is at least 50 % contained in it"),
        (2, "contained", 1.0, 0, "2 pages are entirely contained in it"),
        (0, "containment", 0.0, 0, "No page shares a passage with it"),
        (2, "resemblance", 0.0, 0, "2 pages share a passage with it"),
    ],
)
def test_what_is_similar(total: int, score: str, min_score: float, copies: int, words: str) -> None:
    match = Match(card, 0.9, 0.9, 0.9, "exact", 0.0, [])
    found = sample_matches(*[match] * total, score=score, min_score=min_score)
    assert similar_summary(PageMatches(found, ["id"] * copies)) == words


def moments(*captures: tuple[str | None, float | None], earlier: bool = False, unchanged: int = 0) -> History:
    times = [(time and datetime.fromisoformat(time), share) for time, share in captures]
    entries = [HistoryEntry(card._replace(fetched_at=time or None), share) for time, share in times]
    return History("", earlier, unchanged, entries)


def test_the_history() -> None:
    first, same, changed = ("2024-01-01T12:00:00Z", None), ("2024-02-01T12:00:00Z", 1.0), ("2024-03-01T12:00:00Z", 0.4)
    assert history_summary(moments(first)) == "1 capture on 2024-01-01"
    assert history_summary(moments((None, None))) == "1 capture at an unknown time"
    assert history_summary(moments(first, unchanged=9)) == "1 capture on 2024-01-01; 9 unchanged left out"
    assert history_summary(moments(first, same)) == "2 captures from 2024-01-01 to 2024-02-01, none of them changed"
    assert history_summary(moments(first, same, changed)).endswith("to 2024-03-01, 1 of them changed")
    assert history_summary(moments(same, changed, earlier=True)).startswith("the latest 2 captures from 2024-02-01")
    assert history_summary(moments(first, (None, None))).endswith("2024-01-01, not compared, because no text is stored")


def test_the_watches() -> None:
    def report(total: int, new: int) -> WatchReport:
        found = cast("Any", SimpleNamespace(total=total))
        return WatchReport(Watch(name="mill"), found, frozenset(map(str, range(new))), [])

    found = [watch_report_summary(report(*each)) for each in ((0, 0), (1, 0), (5, 2), (1, 1), (3, 3))]
    assert found == ["No pages yet", "1 page, not new", "5 pages, 2 of them new", "1 new page", "3 new pages"]
    both = [report(5, 2), report(1, 1)]
    assert watches_summary(CheckedWatches(2, both)) == "2 watches, 3 new pages"
    assert watches_summary(CheckedWatches(12, both)) == "12 watches, 3 new pages for the 2 listed"
    assert watches_summary(CheckedWatches(1, [report(1, 0)])) == "1 watch, no new pages"
    assert watches_summary(CheckedWatches(0, [])) == "No watches yet"


def test_the_highest_round_threshold_that_finds_something() -> None:
    assert lower_threshold([0.34, 0.31, 0.2], 3) == LowerThreshold(0.3, 2, at_least=False)
    assert lower_threshold([0.34, 0.31], 500) == LowerThreshold(0.3, 2, at_least=True)
    assert lower_threshold([0.9], 1) == LowerThreshold(0.9, 1, at_least=False)
    assert lower_threshold([0.09], 1) is lower_threshold([], 0) is None


def test_words_that_no_page_has_in_a_row() -> None:
    sentences = {
        ('"a b"', 2): "2 pages have these words in a row",
        ('"a" "b"', 9): "no page has these words in a row, but 9 pages have all of them",
        ('"a" "b"', 1): "no page has these words in a row, but 1 page has all of them",
        ('"a" "b"', 0): "no page has all of these words",
        ('"a"', 1): "1 page has this word",
    }
    assert {each: words_sentence(WordSearch(*each)) for each in sentences} == sentences
