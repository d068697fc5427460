"""winnow search: the list, the rows, the JSON, and the messages if nothing is found."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click import unstyle
from click.testing import Result

from opensearch_winnow.answers.display_text import width
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.searching.results import SearchResults
from opensearch_winnow.stores.engine.running import Running
from tests.cli.conftest import LONG_URL
from tests.cli.sample_card import CONTROL_CHARACTERS, MILL

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]
HEADER = "group\tresemblance\tkind\terror\tscore\tfetched_at\tsite\tcrawl\turl\ttitle\tid\n"


@pytest.fixture
def word(prose: Callable[..., str]) -> str:
    """A word that is on five pages of the crawl, four of them near-duplicates."""
    return prose(60, 0).split()[7]


def results_of(store: Path | str, words: str = "", **question: Any) -> SearchResults:
    with Index.open(store, create=False) as index:
        return index.search(words, **question)


@pytest.mark.parametrize("by", ["signature", "cluster", "both"])
@pytest.mark.parametrize("exact", [False, True])
def test_json_equals_the_answer_of_the_library(winnow: Winnow, crawl: Path, word: str, by: str, exact: bool) -> None:
    options = ["--by", by, "--facets", "site,month", *(["--exact"] if exact else [])]
    done = winnow("search", word, "--store", crawl, "--json", *options)
    found = results_of(crawl, word, group=True, by=by, exact=exact, facets=("site", "month"))
    answer, same = json.loads(done.stdout), json.loads(json.dumps(found.to_dict()))
    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    assert answer.pop("seconds") > 0 < same.pop("seconds")
    assert answer == same
    counts = [answer[key] for key in ("total", "groups", "groups_about", "examined", "by", "min_resemblance")]
    assert counts == [5, 5 if by == "cluster" else 2, None, 5, by, 0.5]
    assert answer.keys() - {"groups_at_least", "groups_at_most", "cursor", "facets", "folded", "hits"} == {
        *("total", "groups", "groups_about", "examined", "by", "min_resemblance")
    }
    with Index.open(crawl, create=False) as index:
        titles = {card.id: card.title for card in index.cards()}
    for hit in answer["hits"]:
        assert hit["snippet"][slice(*hit["marks"][0])].lower() == word.strip(".")
        assert hit["members"] == [each["url"] for each in hit["member_pages"]]
        assert all(each["title"] == titles[each["id"]] for each in (hit, *hit["member_pages"]))


def test_without_groups(winnow: Winnow, crawl: Path, word: str) -> None:
    answer = json.loads(winnow("search", word, "--store", crawl, "--json", "--no-group").stdout)
    assert all(hit["members"] == [] for hit in answer["hits"])
    assert (answer["total"], len(answer["hits"]), answer["groups"], answer["by"]) == (5, 5, None, None)


def test_the_threshold_decides_the_groups(winnow: Winnow, crawl: Path, word: str) -> None:
    def sizes(*options: str) -> list[int]:
        hits = json.loads(winnow("search", word, "--store", crawl, "--json", *options).stdout)["hits"]
        return sorted(1 + len(hit["members"]) for hit in hits)

    assert sizes() == sizes("--min-resemblance", "0.7") == [1, 4]
    assert sizes("--min-resemblance", "0.8") == [1, 1, 3]  # without the page that continues with other text
    assert sizes("--min-resemblance", "1") == [1, 1, 1, 2]
    assert sizes("--min-resemblance", "0.1") == [5]


def test_the_page_shown_for_a_group_is_chosen(winnow: Winnow, crawl: Path, word: str) -> None:
    def shown(*options: str) -> str:
        hits = json.loads(winnow("search", word, "--store", crawl, "--json", *options).stdout)["hits"]
        (group,) = (hit for hit in hits if len(hit["members"]) == 3)
        assert group["url"] not in group["members"]
        return str(group["url"])

    assert shown("--representative", "earliest") == "http://example.org/mill"
    assert shown("--representative", "newest") == LONG_URL
    assert shown("--representative", "longest") == "http://example.com/\x1b[2J"
    assert shown("--representative", "site:example.net,mirror.example") == "http://mirror.example/mill"
    refused = winnow("search", word, "--store", crawl, "--representative", "oldest")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "chosen by best, earliest, newest, longest, canonical or site:HOST[,HOST…], not 'oldest'" in refused.stderr


def urls(done: Result) -> set[str]:
    return {hit["url"] for hit in json.loads(done.stdout)["hits"]}


def test_phrases_and_excluded_words(winnow: Winnow, crawl: Path) -> None:
    def found(*words: str, option: str = "--no-group") -> set[str]:
        return urls(winnow("search", "--store", crawl, "--json", "--no-group", option, "--", *words))

    assert found("the mill") == found('"the mill"') == {MILL}  # quoted in the shell, the words are a phrase
    assert found("mill", "the") == {MILL}
    assert found("mill the") == set()
    assert found("valley", "-mill") == {"http://example.com/\x1b[2J"}
    assert found("valley", "-the mill") == {"http://example.com/\x1b[2J"}  # what a shell makes of -"the mill"
    assert found("水車") == {"http://mirror.example/mill"}
    assert (
        found("mil*") == found("mill", "OR", "unheardof") == found("mill", "unheardof", option="--any-word") == {MILL}
    )


def test_captures_and_filters(winnow: Winnow, crawl: Path, word: str) -> None:
    def found(*options: str) -> Result:
        return winnow("search", word, "--store", crawl, "--json", "--no-group", *options)

    def times(*options: str) -> list[str]:
        hits = json.loads(found(*options).stdout)["hits"]
        return sorted(hit["fetched_at"][:4] for hit in hits if hit["url"] == MILL)

    assert times() == ["2024"]
    assert times("--all-captures") == ["2023", "2024"]
    assert times("--until", "2023") == times("--crawl", "first") == ["2023"]
    assert times("--since", "2024") == ["2024"]
    assert urls(found("--site", "EXAMPLE.net")) == {"http://example.net/quote"}


@pytest.mark.parametrize("option", ["--group", "--no-group"])
def test_pages_of_hits(winnow: Winnow, crawl: Path, word: str, option: str) -> None:
    def hits(*options: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(
            winnow("search", word, "--store", crawl, "--json", option, *options).stdout
        )["hits"]
        return found

    whole = hits("--limit", "50")
    assert len(whole) == (2 if option == "--group" else 5)
    assert [hit for page in range(1, 6) for hit in hits("--limit", "1", "--page", str(page))] == whole
    beyond = winnow("search", word, "--store", crawl, "--limit", "2", "--page", "9", option)
    assert (beyond.exit_code, beyond.stdout) == (1, HEADER)
    assert beyond.stderr.strip() == (
        "There are 5 pages in 2 groups · 3 repeats folded, and --page 1 is the last"
        if option == "--group"
        else "There are 5 pages, and --page 3 is the last"
    )


def test_the_number_of_groups_is_a_range_if_few_hits_are_examined(
    winnow: Winnow, crawl: Path, word: str, on_terminal: OnTerminal
) -> None:
    few = ["--examine", "1", "--limit", "1"]
    answer = json.loads(winnow("search", word, "--store", crawl, "--json", *few).stdout)
    assert (answer["groups"], answer["groups_at_least"], answer["groups_at_most"], answer["examined"]) == (
        None,
        1,
        5,
        1,
    )
    _, shown = on_terminal("winnow", "search", word, "--store", crawl.name, *few)
    first, *_, which, _ = unstyle(shown).splitlines()
    assert re.fullmatch(r"5 pages in 1 to 5 groups; 1 page was examined \(--examine 5 for all\) · \d+ ms", first)
    assert which == "showing 1 to 1 (--page 2 may have more)"


def test_members_found_late_are_shown_on_a_later_page(
    winnow: Winnow, crawl: Path, word: str, on_terminal: OnTerminal
) -> None:
    few = ["--examine", "1", "--limit", "1", "--page", "2"]
    best, other = results_of(crawl, word, group=True).hits
    second = json.loads(winnow("search", word, "--store", crawl, "--json", *few).stdout)
    assert [hit["url"] for hit in second["hits"]] == [other.card.url]
    assert second["folded"] == [{"url": best.card.url, "member": member.to_dict()} for member in best.members]
    _, shown = on_terminal("winnow", "search", word, "--store", crawl.name, *few)
    assert "▸ 3 pages are like hits before these" in unstyle(shown).splitlines()
    assert not CONTROL_CHARACTERS.search(unstyle(shown))


@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_list_on_a_terminal(on_terminal: OnTerminal, crawl: Path, columns: str, word: str) -> None:
    code, shown = on_terminal("winnow", "search", word, "--store", crawl.name, "--facets", "site", COLUMNS=columns)
    lines = unstyle(shown).splitlines()
    assert code == 0
    assert re.fullmatch(r"5 pages in 2 groups · 3 repeats folded · \d+ ms", lines[0])
    assert max(map(width, lines[:-1])) <= int(columns)
    assert [line.split()[0] for line in lines if re.match(r"\d  ", line)] == ["1", "2"]
    assert f"\x1b[1m{word}\x1b[0m" in shown
    (more,) = (number for number, line in enumerate(lines) if "▸" in line)
    assert re.fullmatch(r" +▸ 3 more like this \(≈ \d\d–\d+ %\) on \d sites", lines[more])
    assert all(re.fullmatch(r" +≈ \d+ ± [\d.]+ %  (\S{10}| {10})  \S.*", line) for line in lines[more + 1 : more + 4])
    assert any(line.startswith("site  example.com 1 (1 group) · ") for line in lines)
    assert lines[-1].startswith("→ winnow similar http")
    assert lines[-1].endswith(f"--store {crawl.name}")
    assert not CONTROL_CHARACTERS.search(unstyle(shown))


def test_exact_scores_are_plain_on_a_terminal(on_terminal: OnTerminal, crawl: Path, word: str) -> None:
    _, shown = on_terminal("winnow", "search", word, "--store", crawl.name, "--exact")
    assert "≈" not in shown
    assert re.search(r"▸ 3 more like this \(\d\d–\d+ %\)", unstyle(shown))


def test_members_of_a_cluster_below_the_threshold_are_marked(winnow: Winnow, crawl: Path, word: str) -> None:
    with Index.open(crawl, create=False) as index:
        index.store.set_clusters({card.id: "one" for card in index.store.scan(Card)})
    shown = winnow("search", word, "--store", crawl, "--by", "cluster", "--exact", "--color", "always").stdout
    (more,) = (line for line in unstyle(shown).splitlines() if "▸" in line)
    assert re.search(r"▸ 4 more like this \(\d+–\d+ %, [14] below 50 %\)", more)
    answer = json.loads(winnow("search", word, "--store", crawl, "--by", "cluster", "--json").stdout)
    assert (answer["groups"], answer["total"], [len(hit["members"]) for hit in answer["hits"]]) == (1, 5, [4])


def test_rows_are_not_shortened(winnow: Winnow, crawl: Path, word: str) -> None:
    head, *rows = [line.split("\t") for line in winnow("search", "café", "--store", crawl).stdout.splitlines()]
    assert head == HEADER.split()
    assert [(row[0], row[5], len(row[8]) > 300, row[9]) for row in rows] == [
        ("1", "2024-04-01T00:00:00Z", True, "A café")
    ]
    done = winnow("search", word, "--store", crawl)
    groups = Counter(line.split("\t")[0] for line in done.stdout.splitlines()[1:])
    assert sorted(groups.values()) == [1, 4]
    assert not CONTROL_CHARACTERS.search(re.sub(r"[\t\n]", "", done.stdout))


def test_every_table_has_the_same_rows(winnow: Winnow, crawl: Path, word: str, tmp_path: Path) -> None:
    command = ("search", word, "--store", crawl)
    rows = [line.split("\t") for line in winnow(*command).stdout.splitlines()]
    assert [row[0] for row in rows].count("group") == 1
    assert [row[1:3] for row in rows[1:] if row[0] == "2"] == [["1", "exact"]]
    table = winnow(*command, "--csv").stdout
    assert [len(row) for row in csv.reader(io.StringIO(table))] == [len(rows[0])] * 6
    for name in ("found.csv", "found.json"):
        assert winnow(*command, "--to", tmp_path / name).exit_code == 0
    assert (tmp_path / "found.csv").read_text().splitlines()[0] == ",".join(rows[0])
    assert len(json.loads((tmp_path / "found.json").read_text())["hits"]) == 2
    assert winnow(*command, "--to", tmp_path / "found.csv").exit_code == 2
    assert winnow(*command, "--csv", "--facets", "site").exit_code == 2
    assert winnow(*command, "--facets", "site", "--to", tmp_path / "facets.json").exit_code == 0


def test_nothing_found_suggests_what_would_find_something(winnow: Winnow, crawl: Path) -> None:
    def said(*words: str | Path) -> str:
        done = winnow("search", "--store", crawl, *words)
        assert (done.exit_code, done.stdout) == (1, HEADER)
        return done.stderr.strip()

    assert said("unheardof") == f"No page in {crawl} has unheardof"
    assert said("unheardof*") == f"No page in {crawl} has unheardof*"
    assert said("un heard") == f'No page in {crawl} has "un heard"'
    assert said("valley", "mill", "unheardof") == "No page has all these words; without unheardof there is 1"
    assert said("valley", "unheard", "OR", "of*") == "No page has all these words; without unheard OR of* there are 2"
    assert said("unheard", "of") == f"No page in {crawl} has all these words, or all but one of them"
    assert said("unheard", "of", "--any-word") == f"No page in {crawl} has any of these words"
    assert (
        said("valley", "--site", "example.net")
        == "No page has these words with --site; without --site, 2 pages have them"
    )
    assert said("--", "mill", "-the valley", "-val*") == (
        'No page has these words without "the valley" or val*; 1 page has them if nothing is excluded'
    )
    empty = winnow("search", "unheardof", "--store", crawl, "--json")
    assert (empty.exit_code, json.loads(empty.stdout)["hits"], json.loads(empty.stdout)["groups"]) == (1, [], 0)


def test_invalid_searches_are_refused(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    def refused(*arguments: str) -> str:
        done = winnow("search", "--store", crawl, *arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        return done.stderr

    for words in (["-mill"], ["..."], [""], []):
        assert "at least one word" in refused("--", *words)
    for options in (["--limit", "9" * 20], ["--page", "9" * 20], ["--limit", "0"], ["--examine", "0"]):
        assert "is not a whole number from 1 to" in refused("mill", *options)
    for threshold in ("0", "1.1", "-1"):
        assert "is not a share above 0 and at most 1" in refused("mill", "--min-resemblance", threshold)
    assert "'site,sight' is not a list of site, crawl, month, year" in refused(
        "mill", "--json", "--facets", "site,sight"
    )
    assert "add --json" in refused("mill", "--facets", "site")
    assert "--stable works only with a store on OpenSearch" in refused("mill", "--stable")
    assert "give WORDS or --cursor, not both" in refused("mill", "--cursor", "abc")
    for options in (["--limit", "3"], ["--site", "example.org"], ["--no-group"], ["--any-word"]):
        assert f"{options[0].replace('no-', '')} cannot be combined with --cursor" in refused(
            "--cursor", "abc", *options
        )
    key = tmp_path / "key"
    key.write_text("secret\n")
    for options in ([], ["--key-file", str(key), "--csv", "--full"]):  # which do not decide what is found
        assert "this is not a cursor" in refused("--cursor", "abc", *options)
    most = winnow("search", "mill", "--limit", "10000", "--page", "1000000", "--store", crawl)
    assert "--page 1 is the last" in most.stderr
    missing = winnow("search", "mill", "--store", tmp_path / "no.winnow")
    assert (missing.exit_code, missing.stdout) == (2, "")
    assert "no.winnow" in missing.stderr


@pytest.fixture
def notes(engine: Running, tmp_path: Path) -> str:
    """A store on OpenSearch: twelve pages, each with a copy."""
    address = f"{engine.url}/{tmp_path.name}"
    texts = [f"A note on the mill. {' '.join(f'{number}x{word}' for word in range(40))}" for number in range(12)]
    with Index.open(address) as index:
        index.add(
            Page(f"http://{site}.example/{number}", text=text)
            for number, text in enumerate(texts)
            for site in ("a", "mirror")
        )
    return address


def test_a_cursor_continues_whatever_is_written(winnow: Winnow, notes: str) -> None:
    before = [hit.card.url for hit in results_of(notes, "mill", group=True, limit=50).hits]
    assert len(before) == 12
    done = winnow("search", "mill", "--store", notes, "--stable", "--limit", "5", "--json")
    answers = [json.loads(done.stdout)]
    while answers[-1]["cursor"]:
        with Index.open(notes) as index:
            index.add([Page(f"http://new.example/{len(answers)}", text="Mill, mill, mill.", title="The mill")])
        done = winnow("search", "--cursor", answers[-1]["cursor"], "--store", notes, "--json")
        assert done.exit_code == 0
        answers.append(json.loads(done.stdout))
    assert [hit["url"] for answer in answers for hit in answer["hits"]] == before
    assert [(answer["total"], answer["groups"]) for answer in answers] == [(24, 12)] * 3
    assert results_of(notes, "mill").total == 26


def test_rows_in_a_pipe_say_which_part_they_are(winnow: Winnow, crawl: Path, word: str) -> None:
    search = ("search", word, "--store", crawl)
    part = winnow(*search, "--limit", "1")
    assert (len(part.stdout.splitlines()), part.stderr) == (5, "showing 1 to 1 (--page 2 has the next)\n")
    assert winnow(*search, "--limit", "100").stderr == ""
    assert winnow(*search, "--limit", "1", "--json").stderr == ""  # it has the number of all


@pytest.mark.check
def test_rows_come_with_their_cursor(winnow: Winnow, notes: str, on_terminal: OnTerminal) -> None:
    done = winnow("search", "mill", "--store", notes, "--stable", "--limit", "7")
    cursor = shlex.split(done.stderr)[-1]
    assert done.stderr == f"next page: --cursor {cursor}\n"
    assert len(done.stdout.splitlines()) == 15
    code, shown = on_terminal("winnow", "search", "--cursor", cursor, "--store", notes)
    lines = unstyle(shown).splitlines()
    assert code == 0
    assert re.fullmatch(r"24 pages in 12 groups · 12 repeats folded · \d+ ms", lines[0])
    assert [line.split()[0] for line in lines if re.match(r" ?\d+  ", line)] == ["8", "9", "10", "11", "12"]
    assert "showing 8 to 12" in lines
    assert "--cursor" not in shown
