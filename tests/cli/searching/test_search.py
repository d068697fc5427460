"""winnow search: the list, the rows, the JSON, and the messages if nothing is found."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click import unstyle

from opensearch_winnow.answers.display_text import width
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.searching.results import SearchResults
from opensearch_winnow.stores.engine.running import Running
from tests.cli.conftest import LONG_URL, MILL, OnTerminal, Prose, Winnow
from tests.cli.sample_card import CONTROL_CHARACTERS

MIRROR, EVIL, QUOTE = "http://mirror.example/mill", "http://example.com/\x1b[2J", "http://example.net/quote"
HEADER = "group\tresemblance\tkind\terror\tscore\tfetched_at\tsite\tcrawl\turl\ttitle\tid\n"


@pytest.fixture
def word(prose: Prose) -> str:
    """A word that is on five pages of the crawl, four of them near-duplicates."""
    return prose(60, 0).split()[7]


def results_of(store: Path | str, words: str, **question: Any) -> SearchResults:
    with Index.open(store, create=False) as index:
        return index.search(words, **{"group": True, "examine": 1_000} | question)


FIRST_YEAR = datetime(2024, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("options", "question", "groups"),
    [
        ("--by signature", {}, [1, 4]),
        ("--by cluster --facets site,month", {"by": "cluster", "facets": ("site", "month")}, [1, 1, 1, 1, 1]),
        ("--by both --exact", {"by": "both", "exact": True}, [1, 4]),
        ("--no-group", {"group": False}, [1, 1, 1, 1, 1]),
        ("--min-resemblance 0.8", {"min_resemblance": 0.8}, [1, 1, 3]),
        ("--min-resemblance 1", {"min_resemblance": 1}, [1, 1, 1, 2]),
        ("--min-resemblance 0.1", {"min_resemblance": 0.1}, [5]),
        ("--representative earliest", {"representative": "earliest"}, [1, 4]),
        ("--representative newest", {"representative": "newest"}, [1, 4]),
        ("--representative longest", {"representative": "longest"}, [1, 4]),
        ("--representative site:mirror.example", {"representative": "site:mirror.example"}, [1, 4]),
        ("--all-captures", {"all_captures": True}, [1, 1, 4]),
        ("--until 2023", {"where": Filters(until=FIRST_YEAR)}, [1]),
        ("--crawl first", {"where": Filters(crawl="first")}, [1]),
        ("--since 2024", {"where": Filters(since=FIRST_YEAR)}, [3]),
        ("--site EXAMPLE.net", {"where": Filters(site="example.net")}, [1]),
        ("--examine 1 --limit 1", {"examine": 1, "limit": 1}, [1]),
    ],
)
def test_options_equal_parameters_of_the_library(
    winnow: Winnow, crawl: Path, word: str, options: str, question: dict[str, Any], groups: list[int]
) -> None:
    done = winnow("search", word, "--store", crawl, "--json", *options.split())
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr, done.stdout.count("\n"), answer["seconds"] > 0) == (0, "", 1, True)
    found = json.loads(json.dumps(results_of(crawl, word, **question).to_dict()))
    assert answer == found | {"seconds": answer["seconds"]}
    assert sorted(1 + len(hit["members"]) for hit in answer["hits"]) == groups


def test_a_hit_has_its_members(winnow: Winnow, crawl: Path, word: str) -> None:
    answer = winnow.json("search", word, "--store", crawl)
    assert [answer[key] for key in ("total", "groups", "groups_about", "examined")] == [5, 2, None, 5]
    with Index.open(crawl, create=False) as index:
        titles = {card.id: card.title for card in index.cards()}
    for hit in answer["hits"]:
        assert hit["snippet"][slice(*hit["marks"][0])].lower() == word.strip(".")
        assert hit["members"] == [each["url"] for each in hit["member_pages"]]
        assert all(each["title"] == titles[each["id"]] for each in (hit, *hit["member_pages"]))


def test_phrases_and_excluded_words(winnow: Winnow, crawl: Path) -> None:
    def found(*words: str, option: str = "--no-group") -> set[str]:
        done = winnow("search", "--store", crawl, "--json", "--no-group", option, "--", *words)
        return {hit["url"] for hit in json.loads(done.stdout)["hits"]}

    assert found("the mill") == found('"the mill"') == {MILL}  # quoted in the shell, the words are a phrase
    assert found("mill", "the") == {MILL}
    assert found("mill the") == set()
    assert found("valley", "-mill") == {EVIL}
    assert found("valley", "-the mill") == {EVIL}  # what a shell makes of -"the mill"
    assert found("水車") == {MIRROR}
    any_word = found("mill", "unheardof", option="--any-word")
    assert found("mil*") == found("mill", "OR", "unheardof") == any_word == {MILL}


@pytest.mark.parametrize(
    ("option", "count", "last"),
    [
        ("--group", 2, "5 pages in 2 groups · 3 repeats folded, and --page 1"),
        ("--no-group", 5, "5 pages, and --page 3"),
    ],
)
def test_pages_of_hits(winnow: Winnow, crawl: Path, word: str, option: str, count: int, last: str) -> None:
    def hits(*options: str, code: int = 0) -> list[object]:
        return list(winnow.json("search", word, "--store", crawl, option, *options, code=code)["hits"])

    whole = hits("--limit", "50")
    assert len(whole) == count
    pages = [hits("--limit", "1", "--page", str(page), code=int(page > count)) for page in range(1, 7)]
    assert pages == [*([hit] for hit in whole), *([[]] * (6 - count))]
    beyond = winnow("search", word, "--store", crawl, "--limit", "2", "--page", "9", option)
    assert (beyond.exit_code, beyond.stdout, beyond.stderr) == (1, HEADER, f"There are {last} is the last\n")


def test_the_number_of_groups_is_a_range_if_few_hits_are_examined(
    winnow: Winnow, crawl: Path, word: str, on_terminal: OnTerminal
) -> None:
    few = ["--examine", "1", "--limit", "1"]
    answer = winnow.json("search", word, "--store", crawl, *few)
    counts = [answer[key] for key in ("groups", "groups_at_least", "groups_at_most", "examined")]
    assert counts == [None, 1, 5, 1]
    _, shown = on_terminal("winnow", "search", word, "--store", crawl.name, *few)
    first, *_, which, _ = unstyle(shown).splitlines()
    assert re.fullmatch(r"5 pages in 1 to 5 groups; 1 page was examined \(--examine 5 for all\) · \d+ ms", first)
    assert which == "showing 1 to 1 (--page 2 may have more)"
    best, other = results_of(crawl, word).hits
    second = winnow.json("search", word, "--store", crawl, *few, "--page", "2")
    assert [hit["url"] for hit in second["hits"]] == [other.card.url]
    assert second["folded"] == [{"url": best.card.url, "member": member.to_dict()} for member in best.members]
    _, shown = on_terminal("winnow", "search", word, "--store", crawl.name, *few, "--page", "2")
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
    assert re.fullmatch(rf"→ winnow similar http.* --store {crawl.name}", lines[-1])
    assert not CONTROL_CHARACTERS.search(unstyle(shown))
    _, exact = on_terminal("winnow", "search", word, "--store", crawl.name, "--exact")
    assert "≈" not in exact
    assert re.search(r"▸ 3 more like this \(\d\d–\d+ %\)", unstyle(exact))


def test_members_of_a_cluster_below_the_threshold_are_marked(winnow: Winnow, crawl: Path, word: str) -> None:
    with Index.open(crawl, create=False) as index:
        index.store.set_clusters({card.id: "one" for card in index.store.scan(Card)})
    shown = winnow("search", word, "--store", crawl, "--by", "cluster", "--exact", "--color", "always").stdout
    (more,) = (line for line in unstyle(shown).splitlines() if "▸" in line)
    assert re.search(r"▸ 4 more like this \(\d+–\d+ %, [14] below 50 %\)", more)
    answer = winnow.json("search", word, "--store", crawl, "--by", "cluster")
    assert (answer["groups"], answer["total"], [len(hit["members"]) for hit in answer["hits"]]) == (1, 5, [4])


def test_every_table_has_the_same_rows(winnow: Winnow, crawl: Path, word: str, tmp_path: Path) -> None:
    command = ("search", word, "--store", crawl)
    head, *rows = winnow.rows(*command)
    assert head == HEADER.split()
    assert sorted(Counter(row[0] for row in rows).values()) == [1, 4]
    assert [row[1:3] for row in rows if row[0] == "2"] == [["1", "exact"]]
    assert not CONTROL_CHARACTERS.search("".join(map("".join, rows)))
    _, cafe = winnow.rows("search", "café", "--store", crawl)  # whose URL is not shortened
    assert (cafe[0], cafe[5], cafe[8], cafe[9]) == ("1", "2024-04-01T00:00:00Z", LONG_URL, "A café")
    table = winnow(*command, "--csv").stdout
    assert [len(row) for row in csv.reader(io.StringIO(table))] == [len(head)] * 6
    for name in ("found.csv", "found.json"):
        assert winnow(*command, "--to", tmp_path / name).exit_code == 0
    assert (tmp_path / "found.csv").read_text().splitlines()[0] == ",".join(head)
    assert len(json.loads((tmp_path / "found.json").read_text())["hits"]) == 2
    assert winnow(*command, "--to", tmp_path / "found.csv").exit_code == 2
    assert winnow(*command, "--csv", "--facets", "site").exit_code == 2
    assert winnow(*command, "--facets", "site", "--to", tmp_path / "facets.json").exit_code == 0


def test_rows_in_a_pipe_say_which_part_they_are(winnow: Winnow, crawl: Path, word: str) -> None:
    search = ("search", word, "--store", crawl)
    part = winnow(*search, "--limit", "1")
    assert (len(part.stdout.splitlines()), part.stderr) == (5, "showing 1 to 1 (--page 2 has the next)\n")
    assert winnow(*search, "--limit", "100").stderr == ""
    assert winnow(*search, "--limit", "1", "--json").stderr == ""  # it has the number of all


def test_nothing_found_suggests_what_would_find_something(winnow: Winnow, crawl: Path) -> None:
    def said(*words: str | Path) -> str:
        done = winnow("search", "--store", crawl, *words)
        assert (done.exit_code, done.stdout) == (1, HEADER)
        return done.stderr.strip()

    assert said("unheardof") == f"No page in {crawl} has unheardof"
    assert said("unheardof*") == f"No page in {crawl} has unheardof*"
    assert said("un heard") == f'No page in {crawl} has "un heard"'
    assert said("valley", "mill", "unheardof").endswith("; without unheardof there is 1")
    assert said("valley", "unheard", "OR", "of*").endswith("; without unheard OR of* there are 2")
    assert said("unheard", "of").endswith("has all these words, or all but one of them")
    assert said("unheard", "of", "--any-word").endswith("has any of these words")
    assert said("valley", "--site", "example.net").endswith("; without --site, 2 pages have them")
    excluded = said("--", "mill", "-the valley", "-val*")
    assert 'without "the valley" or val*; 1 page has them if nothing is excluded' in excluded
    empty = winnow.json("search", "unheardof", "--store", crawl, code=1)
    assert (empty["hits"], empty["groups"]) == ([], 0)


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        *((["--", *words], "at least one word") for words in (["-mill"], ["..."], [""], [])),
        (["mill", "--limit", "9" * 20], "is not a whole number from 1 to"),
        (["mill", "--page", "9" * 20], "is not a whole number from 1 to"),
        (["mill", "--limit", "0"], "is not a whole number from 1 to"),
        (["mill", "--examine", "0"], "is not a whole number from 1 to"),
        *((["mill", "--min-resemblance", share], "share above 0 and at most 1") for share in ("0", "1.1", "-1")),
        (["mill", "--json", "--facets", "site,sight"], "'site,sight' is not a list of site, crawl, month, year"),
        (["mill", "--facets", "site"], "add --json"),
        (["mill", "--stable"], "--stable works only with a store on OpenSearch"),
        (["mill", "--representative", "oldest"], "or site:HOST[,HOST…], not 'oldest'"),
        (["mill", "--cursor", "abc"], "give WORDS or --cursor, not both"),
        (["--cursor", "abc", "--limit", "3"], "--limit cannot be combined with --cursor"),
        (["--cursor", "abc", "--site", "example.org"], "--site cannot be combined with --cursor"),
        (["--cursor", "abc", "--no-group"], "--group cannot be combined with --cursor"),
        (["--cursor", "abc", "--any-word"], "--any-word cannot be combined with --cursor"),
        (["--cursor", "abc"], "this is not a cursor"),
        (["--cursor", "abc", "--csv", "--full"], "this is not a cursor"),  # they do not decide what is found
    ],
)
def test_invalid_searches_are_refused(winnow: Winnow, crawl: Path, arguments: list[str], complaint: str) -> None:
    assert complaint in winnow.refused("search", "--store", crawl, *arguments)


def test_limits_of_searches(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    most = winnow("search", "mill", "--limit", "10000", "--page", "1000000", "--store", crawl)
    assert "--page 1 is the last" in most.stderr
    assert "no.winnow" in winnow.refused("search", "mill", "--store", tmp_path / "no.winnow")
    key = tmp_path / "key"
    key.write_text("secret\n")
    key.chmod(0o600)
    assert "not a cursor" in winnow.refused("search", "--cursor", "abc", "--key-file", key, "--store", crawl)


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
    before = [hit.card.url for hit in results_of(notes, "mill", limit=50).hits]
    assert len(before) == 12
    answers = [winnow.json("search", "mill", "--store", notes, "--stable", "--limit", "5")]
    while answers[-1]["cursor"]:
        with Index.open(notes) as index:
            index.add([Page(f"http://new.example/{len(answers)}", text="Mill, mill, mill.", title="The mill")])
        answers.append(winnow.json("search", "--cursor", answers[-1]["cursor"], "--store", notes))
    assert [hit["url"] for answer in answers for hit in answer["hits"]] == before
    assert [(answer["total"], answer["groups"]) for answer in answers] == [(24, 12)] * 3
    assert results_of(notes, "mill").total == 26


@pytest.mark.check
def test_rows_come_with_their_cursor(winnow: Winnow, notes: str, on_terminal: OnTerminal) -> None:
    done = winnow("search", "mill", "--store", notes, "--stable", "--limit", "7")
    cursor = shlex.split(done.stderr)[-1]
    assert (done.stderr, len(done.stdout.splitlines())) == (f"next page: --cursor {cursor}\n", 15)
    code, shown = on_terminal("winnow", "search", "--cursor", cursor, "--store", notes)
    lines = unstyle(shown).splitlines()
    assert code == 0
    assert re.fullmatch(r"24 pages in 12 groups · 12 repeats folded · \d+ ms", lines[0])
    assert [line.split()[0] for line in lines if re.match(r" ?\d+  ", line)] == ["8", "9", "10", "11", "12"]
    assert "showing 8 to 12" in lines
    assert "--cursor" not in shown
