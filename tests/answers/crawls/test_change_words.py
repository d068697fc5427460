"""Crawls that have no URL in common are told so, and their pages are not said to have moved."""

from __future__ import annotations

import pytest

from opensearch_winnow.answers.crawls.changes import changes_summary
from opensearch_winnow.cli.crawls.changes import table
from opensearch_winnow.operations.crawls.changes import KINDS, Changes


def changes(moved: int, not_seen: int, common: int = 0) -> Changes:
    counts = {**dict.fromkeys(KINDS, 0), "moved": moved, "not_seen": not_seen}
    return Changes("spring", "autumn", counts, template=0, without_text=0, common=common, pages=[])


@pytest.mark.parametrize(
    ("found", "sentence"),
    [
        (changes(0, 65), "No URL in common, none of 65 pages has its text at another URL"),
        (changes(1, 64), "No URL in common, 1 of 65 pages has its text at another URL"),
        (changes(2, 63), "No URL in common, 2 of 65 pages have their text at another URL"),
        (changes(1, 0), "No URL in common, the text of the only page is at another URL"),
        (changes(0, 1), "No URL in common, the text of the only page is at no other URL"),
    ],
)
def test_texts_at_another_url(found: Changes, sentence: str) -> None:
    assert changes_summary(found) == sentence


def test_pages_of_crawls_without_a_url_in_common_may_be_copied() -> None:
    def names(found: Changes) -> list[str]:
        return ["".join(text for text, _ in line).rsplit(maxsplit=1)[0] for line in table(found, 80)]

    assert {"moved or copied", "merged or copied"} < {*names(changes(1, 1))}
    assert {"moved", "merged"} < {*names(changes(1, 1, common=1))}
