"""Crawls that have no URL in common are told so, and their pages are not said to have moved."""

from __future__ import annotations

import pytest

from opensearch_winnow.answers.crawls.changes import ChangesDocument, changes_summary
from opensearch_winnow.cli.crawls.changes_table import table


def changes(moved: int, not_seen: int, common: int = 0) -> ChangesDocument:
    return {
        "from": "spring", "to": "autumn", "template": 0, "without_text": 0, "earlier": moved + not_seen,
        "different": moved + not_seen, "common": common, "pages": [],
        "counts": {
            "unchanged": 0, "changed": 0, "moved": moved, "split": 0, "merged": 0, "new": 0, "not_seen": not_seen
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("document", "sentence"),
    [
        (changes(0, 65), "No URL in common, none of 65 pages has its text at another URL"),
        (changes(1, 64), "No URL in common, 1 of 65 pages has its text at another URL"),
        (changes(2, 63), "No URL in common, 2 of 65 pages have their text at another URL"),
        (changes(1, 0), "No URL in common, the text of the only page is at another URL"),
        (changes(0, 1), "No URL in common, the text of the only page is at no other URL"),
    ],
)
def test_texts_at_another_url(document: ChangesDocument, sentence: str) -> None:
    assert changes_summary(document) == sentence


def test_pages_of_crawls_without_a_url_in_common_may_be_copied() -> None:
    def names(document: ChangesDocument) -> list[str]:
        return ["".join(text for text, _ in line).rsplit(maxsplit=1)[0] for line in table(document, 80)]

    assert {"moved or copied", "merged or copied"} < {*names(changes(1, 1))}
    assert {"moved", "merged"} < {*names(changes(1, 1, common=1))}
