"""winnow history: the captures of a URL, as a table, as rows and as JSON."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from click.testing import Result

from opensearch_winnow import Index, Page, compare
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.stores.captures import captures
from tests.cli.conftest import MILL
from tests.meaningless_text import sentences

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]


def test_json(winnow: Winnow, crawl: Path) -> None:
    done = winnow("history", MILL, "--store", crawl, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (answer["url"], answer["earlier"]) == (MILL, False)
    with Index.open(crawl) as index:
        new, old = (index.capture(card.id) for card in captures(index.store, MILL))
    resemblance = compare(old.text, new.text).resemblance
    assert 0 < resemblance < 1
    assert [(each["id"], each["crawl"], each["resemblance"]) for each in answer["captures"]] == [
        (old.id, "first", None),
        (new.id, "second", resemblance),
    ]


def test_rows_in_a_pipe(winnow: Winnow, crawl: Path) -> None:
    done = winnow("history", MILL, "--store", crawl)
    captures = json.loads(winnow("history", MILL, "--store", crawl, "--json").stdout)["captures"]
    rows = list(csv.DictReader(done.stdout.splitlines(), delimiter="\t"))
    assert [row.pop("resemblance") for row in rows] == ["", f"{captures[1].pop('resemblance'):.6g}"]
    assert rows == [{key: value or "" for key, value in each.items() if key in rows[0]} for each in captures]


def test_table_on_a_terminal(on_terminal: OnTerminal, winnow: Winnow, crawl: Path) -> None:
    code, shown = on_terminal("winnow", "history", MILL, "--store", crawl, NO_COLOR="1")
    head, first, second, summary, step = shown.splitlines()
    assert code == 0
    assert head == "captured    resemblance      crawl   title"
    assert first.split() == ["2023-05-06", "–", "first"]
    assert second == "2024-03-01  48 % ████▊       second  The mill in the valley"
    assert summary == "2 captures from 2023-05-06 to 2024-03-01, 1 of them changed"
    assert step == f"→ winnow compare {MILL} --at 2023-05-06 --at 2024-03-01 --store {crawl}"
    with_ids = on_terminal("winnow", "history", MILL, "--ids", "--store", crawl, NO_COLOR="1", COLUMNS="100")[1]
    head, first, second, *_ = with_ids.splitlines()
    assert head.split() == ["captured", "resemblance", "id", "crawl", "title"]
    assert [line[:10].strip() for line in (first, second)] == ["2023-05-06", "2024-03-01"]
    ids = [row.split("\t")[0] for row in winnow("history", MILL, "--store", crawl).stdout.splitlines()[1:]]
    at = head.index("id")
    assert [line[at : at + 32] for line in (first, second)] == ids


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
    as_json = json.loads(winnow("history", MILL, "--store", store, "--limit", "2", "--json").stdout)
    assert (as_json["earlier"], len(as_json["captures"])) == (True, 2)
    changed = json.loads(winnow("history", MILL, "--store", store, "--changed", "--json").stdout)
    assert (changed["unchanged"], len(changed["captures"])) == (2, 1)


def test_an_unknown_url_is_refused(winnow: Winnow, crawl: Path) -> None:
    done = winnow("history", f"{MILL}/", "--store", crawl)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"Error: {crawl} has no page {MILL}/; there is {MILL}\n"
    as_json = winnow("history", "x", "--store", crawl, "--json")
    assert (as_json.exit_code, as_json.stdout) == (2, "")
    gone = winnow("history", MILL, "--store", crawl.with_name("gone.winnow"))
    assert (gone.exit_code, gone.stderr.count("\n")) == (2, 1)


def test_boilerplate_counts_on_request(winnow: Winnow, crawl: Path) -> None:
    def resemblance(*options: str) -> float:
        answer = json.loads(winnow("history", MILL, "--store", crawl, "--json", *options).stdout)
        share: float = answer["captures"][1]["resemblance"]
        return share

    before = resemblance()
    with Index.open(crawl) as index:
        index.add_boilerplate("shared", f"{sentences(60, 0)}\n\n{sentences(60, 1)}")
    assert resemblance() == 0
    assert resemblance("--no-boilerplate") == before
