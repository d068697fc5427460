"""winnow search: the list, the rows, the JSON, and what is said where nothing is found."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from click import unstyle
from click.testing import Result
from hypothesis import given
from hypothesis import strategies as st

from opensearch_winnow.cli.display_width import width
from opensearch_winnow.cli.marked_words import marked_words
from opensearch_winnow.index import Index

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]
MILL = "http://example.org/mill"
HOSTILE = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def marked(text: str, *words: str) -> list[str]:
    return [piece for piece, style in marked_words(text, words) if style == "bold"]


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("The Mill, MILL and mills", ["mill"], ["Mill", "MILL"]),
        ("a café, a cafe\u0301, a CAFE", ["café"], ["café", "cafe\u0301", "CAFE"]),
        ("a straße", ["STRASSE"], ["straße"]),
        ("weigh a  sack; weigh, a sack", ["weigh a sack"], ["weigh a  sack", "weigh, a sack"]),
        ("weigh a sack", ["a", "weigh a sack"], ["weigh a sack"]),
        ("漢字の水車小屋", ["水車"], ["水車"]),
        ("nothing here", ["mill"], []),
        ("nothing here", ["-", "..."], []),
        ("c++ (in brackets", ["c++", "(in"], ["c", "in"]),
        ("", ["mill"], []),
    ],
)
def test_words_are_marked_in_any_case_and_with_or_without_accents(
    text: str, words: list[str], found: list[str]
) -> None:
    assert marked(text, *words) == found


@given(st.text(), st.lists(st.text()))
def test_marking_loses_nothing(text: str, words: list[str]) -> None:
    assert "".join(piece for piece, _ in marked_words(text, words)) == text


def test_json_is_what_the_library_says(winnow: Winnow, crawl: Path) -> None:
    done = winnow("search", "valley", "--store", crawl, "--json")
    answer = json.loads(done.stdout)
    with Index.open(crawl, create=False) as index:
        results = index.search("valley")
    assert done.exit_code == 0
    assert (answer["total"], answer["groups"]) == (results.total, None) == (2, None)
    assert [list(hit) for hit in answer["hits"]] == [
        ["id", "url", "title", "site", "fetched_at", "score", "snippet", "cluster", "members"]
    ] * 2
    for ours, theirs in zip(answer["hits"], results.hits, strict=True):
        assert (ours["url"], ours["score"], ours["snippet"]) == (theirs.card.url, theirs.score, theirs.snippet)
        assert (ours["cluster"], ours["members"]) == (theirs.card.cluster, [theirs.card.url])


def urls(done: Result) -> set[str]:
    return {hit["url"] for hit in json.loads(done.stdout)["hits"]}


def test_phrases_and_what_a_page_must_not_have(winnow: Winnow, crawl: Path) -> None:
    def found(*words: str) -> set[str]:
        return urls(winnow("search", "--store", crawl, "--json", "--", *words))

    assert found("the mill") == found('"the mill"') == {MILL}  # as one word of the shell it is a phrase
    assert found("mill", "the") == {MILL}
    assert found("mill the") == set()
    assert found("valley", "-mill") == {"http://example.com/\x1b[2J"}
    assert found("水車") == {"http://mirror.example/mill"}


def test_captures_and_filters(winnow: Winnow, crawl: Path, prose: Callable[..., str]) -> None:
    word = prose(60, 0).split()[7]

    def times(*options: str) -> list[str]:
        hits = json.loads(winnow("search", word, "--store", crawl, "--json", *options).stdout)["hits"]
        return sorted(hit["fetched_at"][:4] for hit in hits if hit["url"] == MILL)

    assert times() == ["2024"]
    assert times("--all-captures") == ["2023", "2024"]
    assert times("--until", "2023") == times("--crawl", "first") == ["2023"]
    assert times("--since", "2024") == ["2024"]
    assert urls(winnow("search", word, "--site", "EXAMPLE.net", "--store", crawl, "--json")) == {
        "http://example.net/quote"
    }


def test_pages_of_hits(winnow: Winnow, crawl: Path, prose: Callable[..., str]) -> None:
    word = prose(60, 0).split()[7]
    whole = json.loads(winnow("search", word, "--store", crawl, "--json").stdout)["hits"]
    assert len(whole) > 3
    pages = [
        json.loads(winnow("search", word, "--store", crawl, "--json", "--limit", "2", "--page", str(page)).stdout)
        for page in (1, 2)
    ]
    assert [hit["id"] for page in pages for hit in page["hits"]] == [hit["id"] for hit in whole[:4]]
    assert {page["total"] for page in pages} == {len(whole)}
    beyond = winnow("search", word, "--store", crawl, "--limit", "2", "--page", "9")
    assert beyond.exit_code == 1
    assert f"There are {len(whole)} pages, and --page {(len(whole) + 1) // 2} is the last" in beyond.stderr


@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_list_on_a_terminal(on_terminal: OnTerminal, crawl: Path, columns: str, prose: Callable[..., str]) -> None:
    word = prose(60, 0).split()[7]
    code, shown = on_terminal("winnow", "search", word, "--store", crawl.name, COLUMNS=columns)
    lines = unstyle(shown).splitlines()
    assert code == 0
    assert max(map(width, lines[:-1])) <= int(columns)
    assert [line.split()[0] for line in lines if re.match(r"\d  ", line)] == ["1", "2", "3", "4", "5"]
    assert f"\x1b[1m{word}\x1b[0m" in shown
    assert re.fullmatch(r"5 pages · \d+ ms", lines[-2])
    assert lines[-1].startswith("→ winnow similar http")
    assert lines[-1].endswith(f"--store {crawl.name}")
    assert not HOSTILE.search(unstyle(shown))


def test_rows_are_in_full(winnow: Winnow, crawl: Path) -> None:
    head, *rows = [line.split("\t") for line in winnow("search", "café", "--store", crawl).stdout.splitlines()]
    assert head == ["score", "fetched_at", "url", "title", "snippet"]
    assert [(row[1], len(row[2]) > 300, row[3]) for row in rows] == [("2024-04-01T00:00:00Z", True, "A café")]


def test_nothing_found_says_what_would_find_something(winnow: Winnow, crawl: Path) -> None:
    def said(*words: str | Path) -> str:
        done = winnow("search", *words, "--store", crawl)
        assert (done.exit_code, done.stdout) == (1, "score\tfetched_at\turl\ttitle\tsnippet\n")
        return done.stderr.strip()

    assert said("unheardof") == f"No page of {crawl} has unheardof"
    assert said("valley", "mill", "unheardof") == "No page has all these words; without unheardof there is 1"
    assert said("unheard", "of") == f"No page of {crawl} has all these words, nor all but one of them"
    assert said("valley", "--site", "example.net") == "No page has these words with --site; without, 2 have"
    empty = winnow("search", "unheardof", "--store", crawl, "--json")
    assert json.loads(empty.stdout)["hits"] == []


def test_what_cannot_be_searched_for(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    for words in (["-mill"], ["..."], [""]):
        done = winnow("search", "--store", crawl, "--", *words)
        assert done.exit_code == 2
        assert "at least one word" in done.stderr
    for options in (["--limit", "9" * 20], ["--page", "9" * 20], ["--limit", "0"]):
        assert "is not in the range" in winnow("search", "mill", *options, "--store", crawl).stderr
    most = winnow("search", "mill", "--limit", "1000000", "--page", "1000000", "--store", crawl)
    assert "--page 1 is the last" in most.stderr
    missing = winnow("search", "mill", "--store", tmp_path / "no.winnow")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "no.winnow" in missing.stderr
