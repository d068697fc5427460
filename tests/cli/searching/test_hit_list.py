"""Hits on a terminal: highlighted words, groups, facets, lines that fit; and the sentences about them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.answers.display_text import width
from opensearch_winnow.answers.formatting import percent_range
from opensearch_winnow.answers.searching.search_words import more_like_this
from opensearch_winnow.cli.searching.hit_list import empty_page, highlighted, hits_range, result_lines, total_with_hint
from opensearch_winnow.queries.searching.results import FacetCount, Folded, Member, Result, SearchResults
from opensearch_winnow.queries.words import Words, as_typed
from tests.cli.sample_card import CONTROL_CHARACTERS, MILL, card


def member(resemblance: float = 0.94, error: float = 0.0, **others: Any) -> Member:
    page: dict[str, Any] = {"url": "http://mirror.example/mill", "title": "A mill", "site": "mirror.example"}
    page |= {"id": "1" * 32, "crawl": "", "fetched_at": datetime(2024, 3, 2, tzinfo=UTC)}
    kind = "estimate" if error else "exact"
    return Member(**page | {"score": 1.5, "resemblance": resemblance, "kind": kind, "error": error} | others)


def result(*members: Member, **others: Any) -> Result:
    usual = Result(card, 2.5, "… the mill in the valley …", [(6, 10), (18, 24)], [(4, 8)], list(members))
    return replace(usual, **others)


def results_of(*hits: Result, **others: Any) -> SearchResults:
    pages = sum(1 + len(hit.members) for hit in hits)
    counts: dict[str, Any] = {"groups": len(hits), "at_least": len(hits), "at_most": len(hits), "examined": pages}
    grouped: dict[str, Any] = {"total": pages, "hits": list(hits), "min_resemblance": 0.5, "by": "signature"}
    return SearchResults(**grouped | counts | others)


def lines_of(results: SearchResults, columns: int = 80, **options: Any) -> list[list[str]]:
    blocks = "\n".join("".join(text for text, _ in line) for line in result_lines(results, columns, **options))
    return [block.split("\n") for block in blocks.split("\n\n")]


def test_a_hit_has_a_title_a_url_a_date_and_a_snippet() -> None:
    assert lines_of(results_of(result()), first=7) == [
        ["7  The mill", f"   {MILL} · 2024-03-01", "   … the mill in the valley …"]
    ]
    (untitled,) = lines_of(results_of(result(card=card._replace(title=" ", fetched_at=None))))
    assert untitled[:2] == ["1  (no title)", f"   {MILL}"]


def test_marks_are_bold_and_no_text_is_lost() -> None:
    spans = highlighted("… the mill in the valley …", [(6, 10), (18, 24)])
    assert [text for text, style in spans if style == "bold"] == ["mill", "valley"]
    assert "".join(text for text, _ in spans) == "… the mill in the valley …"
    assert highlighted("a \x1b[2J mill", [(7, 11)]) == [("a ␛[2J ", "plain"), ("mill", "bold"), ("", "plain")]
    assert highlighted("nothing", []) == [("nothing", "plain")]


def test_near_duplicates_are_listed_below_their_hit() -> None:
    others = [member(), member(0.83, url="http://m.example/a", site="m.example", fetched_at=None)]
    (block,) = lines_of(results_of(result(*others)))
    assert block[3:] == [
        "   ▸ 2 more like this (83–94 %) on 2 sites",
        "     94 %  2024-03-02  http://mirror.example/mill",
        "     83 %              http://m.example/a",
    ]
    (many,) = lines_of(results_of(result(*[member()] * 15)))
    assert (many[3], len(many), many[-1]) == ("   ▸ 15 more like this (94 %) on 1 site", 8, "     and 12 more")


def test_estimates_are_marked_and_exact_scores_are_not() -> None:
    (block,) = lines_of(results_of(result(member(), member(0.83, 0.021), member(0.9, 0.004))))
    assert block[3] == "   ▸ 3 more like this (≈ 83–94 %) on 1 site"
    assert [line.split("  2024")[0].strip() for line in block[4:]] == ["94 %", "≈ 83 ± 2 %", "≈ 90 ± 0.4 %"]
    assert len({line.index("2024-03-02") for line in block[4:]}) == 1


def test_members_of_a_cluster_below_the_threshold_are_marked() -> None:
    (block,) = lines_of(results_of(result(member(), member(0.38, 0.02)), by="cluster"))
    assert block[3:] == [
        "   ▸ 2 more like this (≈ 38–94 %, 1 below 50 %) on 1 site",
        "           94 %  2024-03-02              http://mirror.example/mill",
        "     ≈ 38 ± 2 %  2024-03-02  below 50 %  http://mirror.example/mill",
    ]


def test_a_page_without_a_signature_has_no_resemblance() -> None:
    (block,) = lines_of(results_of(result(member(0.0, 1.0), member(0.9)), by="cluster"))
    assert block[3] == "   ▸ 2 more like this (90 %, 1 too short to tell) on 1 site"
    assert [line.split()[0] for line in block[4:]] == ["–", "90"]
    assert more_like_this(result(member(0.0, 1.0)), 0.5) == "1 more like this (1 too short to tell) on 1 site"


@pytest.mark.parametrize(
    ("sites", "where"),
    [
        (["example.org"], " on the same site"),
        (["example.org", "m.example"], " on 2 sites"),
        (["m.example", "m.example"], " on 1 site"),
        ([""], ""),
    ],
)
def test_the_sites_of_members_are_counted(sites: list[str], where: str) -> None:
    members = (member(site=site) for site in sites)
    assert more_like_this(result(*members), 0.5) == f"{len(sites)} more like this (94 %){where}"


def test_ranges_of_percentages() -> None:
    ranges = {(0.83, 0.94): "83–94 %", (0.5, 1): "50–100 %", (0.9, 0.901): "90 %", (0.8, 0.999): "80 to >99 %"}
    assert {each: percent_range(*each) for each in ranges} == ranges
    assert percent_range(1, 1) == "100 %"


def test_members_of_earlier_groups_are_shown_after_the_hits() -> None:
    late = [Folded(MILL, member(0.61)), Folded(MILL, member(0.72))]
    _, block = lines_of(results_of(result(), folded=late))
    assert block == [
        "▸ 2 pages are like hits before these",
        "  61 %  2024-03-02  http://mirror.example/mill",
        "  72 %  2024-03-02  http://mirror.example/mill",
    ]
    assert lines_of(results_of(result(), folded=late[:1]))[1][0] == "▸ 1 page is like hits before these"


def test_facets_count_pages_and_groups() -> None:
    facets = {
        "site": [FacetCount("example.org", 1_200, 9), FacetCount("m.example", 3, 1)],
        "month": [FacetCount("2024-03", 2, 2), FacetCount("", 1, 1)],
    }
    assert lines_of(results_of(result(), facets=facets))[1] == [
        "site   example.org 1,200 (9 groups) · m.example 3 (1 group)",
        "month  2024-03 2 (2 groups) · unknown 1 (1 group)",
    ]
    options: list[tuple[dict[str, Any], str]] = [
        ({"groups": None}, "month  2024-03 2 (≥ 2 groups) · unknown 1 (≥ 1 group)"),
        ({"by": "cluster"}, "month  2024-03 2 (2 clusters) · unknown 1 (1 cluster)"),
        ({"by": None, "groups": None}, "month  2024-03 2 · unknown 1"),
    ]
    for option, line in options:
        assert lines_of(results_of(result(), facets=facets, **option))[1][1] == line
    many = {"site": [FacetCount(f"{number}.example", 1, 1) for number in range(12)]}
    *_, last = lines_of(results_of(result(), facets=many), columns=40)[1]
    assert last.endswith("· and 2 more") or last.strip() == "and 2 more"
    assert lines_of(results_of(result(), facets={"site": []}))[1] == ["site  none"]


LONG_URL = "http://www.example.org/" + "a-long-way/" * 30 + "end.html"


@pytest.mark.parametrize("columns", [60, 80, 120])
@pytest.mark.parametrize(
    "url", [MILL, LONG_URL, "http://例え.jp/" + "とても長い道/" * 9, "http://x.org/שלום/\x1b[2J\u202e"]
)
@pytest.mark.parametrize("title", [None, "漢字の" * 30, "🙂 and 🙂" * 9, "\x1b]0;t\x07\x1b[2J\u202e"])
def test_lines_fit_for_any_url_and_title(columns: int, url: str, title: str | None) -> None:
    others = [member(), member(0.83, 0.02, url=url), member(0.2, 0.004, url=url, site=url)]
    results = results_of(
        result(*others, card=card._replace(url=url, title=title), snippet=f"{title} " * 20, marks=[(0, 3)]),
        folded=[Folded(url, each) for each in others],
        facets={"site": [FacetCount(url, 3, 1)] * 3},
    )
    lines = [line for block in lines_of(results, columns) for line in block]
    assert max(map(width, lines)) <= columns
    if url == LONG_URL:
        assert url in "".join("".join(block) for block in lines_of(results, columns, full=True))
    assert not CONTROL_CHARACTERS.search("".join(lines))


MANY = {"total": 1_204, "groups": None, "at_least": 38, "at_most": 1_142, "examined": 100}


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"total": 42, "groups": 17}, "42 pages in 17 groups · 25 repeats folded"),
        ({"total": 2, "groups": 1}, "2 pages in 1 group · 1 repeat folded"),
        ({"total": 3, "groups": 3}, "3 pages in 3 groups"),
        ({"total": 1, "groups": 1}, "1 page in 1 group"),
        (MANY, "1,204 pages in 38 to 1,142 groups; 100 pages were examined (--examine 1204 for all)"),
        (
            MANY | {"about": 300},
            "1,204 pages in about 300 groups (38 to 1,142); 100 pages were examined (--examine 1204 for all)",
        ),
        ({"total": 42, "groups": None, "by": None}, "42 pages"),
    ],
)
def test_the_totals_as_a_sentence(others: dict[str, Any], said: str) -> None:
    assert total_with_hint(results_of(**others)) == said


@pytest.mark.parametrize(
    ("others", "page", "said"),
    [
        ({"total": 9, "at_most": 2, "at_least": 2}, 1, ""),
        ({"total": 9, "at_most": 5, "at_least": 5}, 1, "showing 1 to 2 (--page 2 has the next)"),
        ({"total": 9, "at_most": 5, "at_least": 2}, 1, "showing 1 to 2 (--page 2 may have more)"),
        ({"total": 9, "at_most": 5, "at_least": 5, "cursor": "abc"}, 1, "showing 1 to 2"),
        ({"total": 9, "at_most": 4, "at_least": 4}, 2, "showing 3 to 4"),
        ({"total": 4, "by": None}, 1, "showing 1 to 2 (--page 2 has the next)"),
        ({"total": 2, "by": None}, 1, ""),
    ],
)
def test_the_range_of_the_shown_hits(others: dict[str, Any], page: int, said: str) -> None:
    assert hits_range(results_of(result(), result(), **others), page, 2) == said


def test_an_empty_page_of_results() -> None:
    assert empty_page(results_of(total=5, groups=3), 4, 2) == (
        "There are 5 pages in 3 groups · 2 repeats folded, and --page 2 is the last"
    )
    assert empty_page(results_of(total=5, groups=None, by=None), 4, 2) == "There are 5 pages, and --page 3 is the last"
    paused = {"total": 30_000, "groups": None, "at_least": 1, "at_most": 10_001, "examined": 20_000}
    assert empty_page(results_of(**paused), 2, 10).endswith("for all): nothing new so far, and --page 3 looks further")
    assert empty_page(results_of(**paused, cursor="abc"), 2, 10).endswith("for all): nothing new so far")


@pytest.mark.check
@given(
    st.text() | st.lists(st.sampled_from(["a", "-b", "OR", "c*", '"d e"', '"OR"', '"c*"', '"', "-", "*"])).map(" ".join)
)
def test_words_can_be_typed_again(typed: str) -> None:
    wanted = Words.of(typed).wanted
    assert Words.of(as_typed(wanted)).wanted == wanted
