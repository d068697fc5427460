"""winnow history: the captures of a URL, as a table, as rows and as JSON."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

from opensearch_winnow import Index, Page
from opensearch_winnow.answers.display_text import width
from tests.cli.conftest import MILL, OnTerminal, Winnow
from tests.meaningless_text import sentences


def test_json_and_rows_are_the_answer_of_the_library(winnow: Winnow, crawl: Path) -> None:
    done = winnow("history", MILL, "--store", crawl, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (answer["url"], answer["earlier"]) == (MILL, False)
    with Index.open(crawl) as index:
        assert answer == index.history(MILL).to_dict()
    old, new = answer["captures"]
    assert 0 < new["resemblance"] < 1
    assert winnow.rows("history", MILL, "--store", crawl)[1:] == [
        [old["id"], "2023-05-06T00:00:00Z", "first", "", "", ""],
        [new["id"], "2024-03-01T00:00:00Z", "second", "The mill in the valley", "", f"{new['resemblance']:.6g}"],
    ]


def test_table_on_a_terminal(on_terminal: OnTerminal, winnow: Winnow, crawl: Path) -> None:
    code, shown = on_terminal("winnow", "history", MILL, "--store", crawl, NO_COLOR="1")
    _, first, second, summary, step = shown.splitlines()
    assert (code, first.split()) == (0, ["2023-05-06", "–", "first"])
    assert second == "2024-03-01  48 % ████▊       second  The mill in the valley"
    assert summary == "2 captures from 2023-05-06 to 2024-03-01, 1 of them changed"
    assert step == f"→ winnow compare {MILL} --at 2023-05-06 --at 2024-03-01 --store {crawl}"
    _, with_ids = on_terminal("winnow", "history", MILL, "--ids", "--store", crawl, NO_COLOR="1")
    head, *lines = with_ids.splitlines()[:3]
    assert head.split() == ["captured", "resemblance", "id", "crawl", "title"]
    ids = [row[0] for row in winnow.rows("history", MILL, "--store", crawl)[1:]]
    at = head.index("id")
    assert [(line[:10], line[at : at + 32]) for line in lines] == [("2023-05-06", ids[0]), ("2024-03-01", ids[1])]


def test_captures_of_one_day_or_without_a_date(on_terminal: OnTerminal, winnow: Winnow, tmp_path: Path) -> None:
    store = tmp_path / "odd.winnow"
    with Index.open(store) as index:
        times = [None, *(datetime(2024, 3, 1, hour, tzinfo=UTC) for hour in (1, 2))]
        title = "\x1b]0;evil\x07 漢字の水車小屋" * 9
        index.add(Page(MILL, text=sentences(60), title=title, fetched_at=time) for time in times)
    _, shown = on_terminal("winnow", "history", MILL, "--store", store, NO_COLOR="1", COLUMNS="60")
    head, *lines = shown.splitlines()[:4]
    assert head.split() == ["captured", "resemblance", "title"]
    assert [line[:19].strip() for line in lines] == ["unknown", "2024-03-01 01:00:00", "2024-03-01 02:00:00"]
    assert [line[21:].split()[0] for line in lines] == ["–", "100", "100"]
    assert all(width(line) <= 60 for line in lines)
    assert "\x1b" not in shown
    limited = winnow("history", MILL, "--store", store, "--limit", "1")
    assert [row.split("\t")[1::4] for row in limited.stdout.splitlines()[1:]] == [["2024-03-01T02:00:00Z", "1"]]
    assert limited.stderr == "showing the latest 1 capture; --limit shows more\n"
    some = winnow.json("history", MILL, "--store", store, "--limit", "2")
    assert (some["earlier"], len(some["captures"])) == (True, 2)
    changed = winnow.json("history", MILL, "--store", store, "--changed")
    assert (changed["unchanged"], len(changed["captures"])) == (2, 1)


def test_boilerplate_counts_on_request(winnow: Winnow, crawl: Path) -> None:
    def resemblance(*options: str) -> object:
        return winnow.json("history", MILL, "--store", crawl, *options)["captures"][1]["resemblance"]

    before = resemblance()
    with Index.open(crawl) as index:
        index.add_boilerplate("shared", f"{sentences(60, 0)}\n\n{sentences(60, 1)}")
    assert resemblance() == 0
    assert resemblance("--no-boilerplate") == before
