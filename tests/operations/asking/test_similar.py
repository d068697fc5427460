"""Tests which candidates of a question are compared."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page, Scheme, compare
from opensearch_winnow.operations.asking import similar
from opensearch_winnow.types import Relationship
from tests.test_index import prose

QUOTE = prose("quote", 80)
QUESTION = f"{prose('before', 200)} {QUOTE} {prose('after', 200)}"
MORE = f"{prose('more', 60)} {prose('before', 200)}"  # shares more than the quote


@pytest.fixture(scope="module")
def index(shared_index: Index) -> Index:
    quoting = (Page(f"https://a.org/{i}", text=f"{prose(i, 50)} {QUOTE} {prose(-i, 50)}") for i in range(40))
    shared_index.add([*quoting, Page("https://b.org/more", text=MORE)])
    return shared_index


@pytest.mark.parametrize("min_containment", [0, 0.1])
def test_matches_have_the_relationship_of_the_texts(index: Index, min_containment: float) -> None:
    found = index.similar(text=QUESTION, min_containment=min_containment, limit=None)
    assert len(found) == 41
    for match in found:
        assert match.relationship == compare(QUESTION, index.page(match.url).text).relationship
    assert {match.relationship.kind for match in found if match.relationship} == {"includes parts", "revised"}


def test_nothing_is_said_about_texts_that_were_not_compared(index: Index) -> None:
    same, *others = index.similar(text=MORE.upper(), min_containment=0, exact=False)
    assert same.relationship == Relationship("identical", "the same words in the same order")
    assert [match.relationship for match in others] == [None] * len(others)
    for match in index.similar(text=QUESTION, min_containment=0.1, exact=False):
        assert match.relationship is None


@pytest.mark.parametrize(
    ("exact", "reason"), [(True, "but some letters only look alike"), (False, "if letters that look alike are one")]
)
def test_a_disguised_copy_is_no_plain_copy(tmp_path: Path, exact: bool, reason: str) -> None:
    with Index.open(tmp_path / "folded.winnow", scheme=Scheme(fold_confusables=True)) as folded:
        folded.add([Page("https://a.org/", text=MORE)])
        (match,) = folded.similar(text=MORE.replace("e", "\N{CYRILLIC SMALL LETTER IE}"), exact=exact)
    assert match.relationship == Relationship("identical", f"the same words in the same order, {reason}")


@pytest.mark.parametrize("exact", [True, False])
@pytest.mark.parametrize("frequent", [10, 1_000])
def test_popular_text_is_compared_with_the_pages_that_share_the_most(
    index: Index, exact: bool, frequent: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(similar, "MIN_COMPARED", 5)
    found = index.similar(text=QUESTION, min_containment=0, limit=3, exact=exact, frequent=frequent)
    assert (found.total, found.candidates, found.uncompared, len(found)) == (41, 41, 36, 3)
    assert found[0].url == "https://b.org/more"
    every = index.similar(text=QUESTION, min_containment=0, limit=None, exact=exact, frequent=frequent)
    assert (every.total, every.candidates, every.uncompared, len(every)) == (41, 41, 0, 41)
    assert {(match.url, match.containment) for match in found} <= {(match.url, match.containment) for match in every}


def test_more_pages_are_compared_until_enough_match(file_index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    """The best capture of each URL is a match, so that the first five candidates make fewer than three."""
    monkeypatch.setattr(similar, "MIN_COMPARED", 5)
    times = (datetime(2026, 1, 1 + i, tzinfo=UTC) for i in range(10))
    captures = [Page("https://a.org/", text=f"{MORE} {prose(i, 20)}", fetched_at=t) for i, t in enumerate(times)]
    file_index.add([*captures, *(Page(f"https://b.org/{i}", text=f"{prose(i, 50)} {QUOTE}") for i in range(20))])
    found = file_index.similar(text=QUESTION, min_containment=0, limit=3)
    assert (found.candidates, found.uncompared, len(found)) == (30, 10, 3)
    assert found.total == 1 + 10 + found.uncompared
    assert found[0].url == "https://a.org/"


def test_other_thresholds_compare_every_candidate(index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar, "MIN_COMPARED", 1)
    assert index.similar(text=QUOTE, min_containment=0.5, limit=1).total == 40
