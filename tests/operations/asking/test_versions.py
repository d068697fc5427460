"""The versions of a page or text, on both kinds of store."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

import pytest

from opensearch_winnow import Index, Page, QuestionError, compare
from opensearch_winnow.answers.asking.versions import versions_summary
from opensearch_winnow.operations.asking.versions import Version
from tests.test_index import near, prose

# Each version resembles its neighbours by more than a half, but the first and the last one do not.
TEXTS = [prose("terms", 300)]
for number in range(1, 5):
    TEXTS.append(near(TEXTS[-1], number, 6))
TERMS, MIRROR, COPY, LATE, UNDATED = (
    f"https://{name}.example/terms" for name in ("shop", "mirror", "copy", "late", "undated")
)


def day(month: int) -> datetime:
    return datetime(2024, month, 1, tzinfo=UTC)


PAGES = [
    *(Page(TERMS, text=text, fetched_at=day(month)) for month, text in enumerate(TEXTS, 1)),
    Page(TERMS, text=TEXTS[-1].upper(), fetched_at=day(6)),  # the same words
    Page(COPY, text=TEXTS[0], fetched_at=day(2)),  # not updated since
    Page(COPY, text=TEXTS[0], fetched_at=day(6)),
    Page(MIRROR, text=TEXTS[3], fetched_at=day(4)),
    Page(MIRROR, text=TEXTS[4], fetched_at=day(6)),
    Page(LATE, text=TEXTS[3], fetched_at=day(5)),
    Page(UNDATED, text=near(TEXTS[4], "undated", 4)),
    Page("https://other.example/", text=prose("other", 300), fetched_at=day(1)),
]


@pytest.fixture(scope="module")
def index(shared_index: Index) -> Index:
    shared_index.add(PAGES)
    return shared_index


def summed_up(version: Version) -> tuple[int | None, bool, list[str], list[str]]:
    month = None if version.first_seen is None else version.first_seen.month
    return month, version.stale, version.pages, version.current


def test_every_copy_of_every_version_is_found(index: Index) -> None:
    steps = [compare(one, other).resemblance for one, other in pairwise(TEXTS)]
    assert compare(TEXTS[0], TEXTS[4]).resemblance < 0.5 < min(steps)
    found = index.versions(TERMS)
    assert [summed_up(each) for each in found] == [
        (None, False, [UNDATED], [UNDATED]),
        (1, True, [TERMS, COPY], [COPY]),
        (2, True, [TERMS], []),
        (3, True, [TERMS], []),
        (4, True, [MIRROR, TERMS, LATE], [LATE]),
        (5, False, [TERMS, MIRROR], [TERMS, MIRROR]),
    ]
    assert [each.same for each in found] == [False] * 5 + [True]
    texts = [near(TEXTS[4], "undated", 4), *TEXTS]
    expected = [compare(one, other).resemblance for one, other in pairwise(texts)]
    assert [each.resemblance for each in found] == [None, *expected]
    assert (found.min_resemblance, found.unscored) == (0.5, 0)


def test_the_versions_of_a_text_resemble_it(index: Index) -> None:
    found = index.versions(text=TEXTS[0])
    assert found[0].same
    assert summed_up(found[0]) == (1, True, [TERMS, COPY], [COPY])
    near_enough = [text for text in TEXTS if compare(TEXTS[0], text).resemblance >= 0.5]
    assert len(found) == len(near_enough) < len(TEXTS)
    assert len(index.versions(text=TEXTS[0], min_resemblance=1)) == 1
    assert len(index.versions(text=prose("unknown", 300))) == 0
    assert not any(each.same for each in index.versions(text=near(TEXTS[0], "not stored", 1)))
    first = index.versions(TERMS, at=day(1))
    assert [each.same for each in first] == [False, True, False, False, False, False]
    assert index.versions(id=index.page(TERMS, day(1)).id).versions == first.versions


def test_questions_that_cannot_be_answered(index: Index) -> None:
    with pytest.raises(QuestionError, match=r"there is https://shop\.example/terms"):
        index.versions(f"{TERMS}/")
    with pytest.raises(QuestionError, match="exactly one of url, id, text or html"):
        index.versions(TERMS, text="both")
    with pytest.raises(QuestionError, match="min_resemblance is a share above 0 and at most 1, not 2"):
        index.versions(TERMS, min_resemblance=2)


def test_the_answer_counts_what_it_leaves_out(index: Index) -> None:
    whole = index.versions(TERMS)
    assert (whole.total, whole.page_count, whole.stale_count) == (6, 5, 2)
    assert versions_summary(whole) == "6 versions on 5 pages; 2 pages are stale"
    assert [each.stale_pages for each in whole] == [[], [COPY], [], [], [LATE], []]
    first = whole.to_dict()["versions"][1]
    assert (first["first_url"], first["capture_count"]) == (TERMS, 3)
    assert (first["first_seen"], first["last_seen"]) == ("2024-01-01T00:00:00Z", "2024-06-01T00:00:00Z")
    short = index.versions(TERMS, limit=1)
    assert (short.total, [each.pages for each in short]) == (6, [[TERMS]])
    assert short[0].page_count == 2


def test_a_short_page_has_its_own_captures(file_index: Index, monkeypatch: pytest.MonkeyPatch) -> None:
    file_index.add([Page(TERMS, text="Closed today.", fetched_at=day(month)) for month in (1, 2)])
    (only,) = file_index.versions(TERMS)
    assert (len(only.captures), only.pages, only.stale) == (2, [TERMS], False)
    assert versions_summary(file_index.versions(TERMS)) == "1 version on 1 page"
    monkeypatch.setattr("opensearch_winnow.operations.asking.versions.MAX_QUESTIONS", 2)
    file_index.add(PAGES)
    assert 2 < len(file_index.versions(TERMS)) <= 6
