"""winnow similar: the table, the rows, the JSON, and the messages if nothing is found."""

from __future__ import annotations

import csv
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click import unstyle
from click.testing import Result

from opensearch_winnow.answers.display_text import width
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking import similar
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.filters import Filters
from tests.cli.sample_card import CONTROL_CHARACTERS, MILL
from tests.public_pages import licences

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]
Process = Callable[..., subprocess.CompletedProcess[bytes]]
PAGE = ("id", "url", "title", "site", "fetched_at")
SCORES = ("resemblance", "containment", "contained")


def matches_of(store: Path, **question: object) -> Matches:
    with Index.open(store, create=False) as index:
        return index.similar(**question)  # type: ignore[call-overload, no-any-return]


def test_json_equals_the_answer_of_the_library(winnow: Winnow, crawl: Path) -> None:
    done = winnow("similar", MILL, "--store", crawl, "--json")
    found = matches_of(crawl, url=MILL)
    answer = json.loads(done.stdout)
    assert done.exit_code == 0
    assert done.stdout.count("\n") == 1
    assert [each["url"] for each in answer["matches"]] == [each.url for each in found]
    assert answer["matches"][0]["url"] == "http://mirror.example/mill"
    assert {name: value for name, value in answer.items() if name != "seconds"} == {
        name: value for name, value in found.to_dict().items() if name != "seconds"
    }
    assert answer["matches"][0].keys() >= {"id", "site", "title", "fetched_at", *SCORES, "kind", "error", "passages"}
    assert (answer["score"], answer["min_score"], answer["too_short"]) == ("resemblance", 0.5, False)
    assert answer["matches"][0]["relationship"].keys() == {"kind", "reason"}


@pytest.mark.parametrize(
    ("options", "question"),
    [
        (["--min-resemblance", "0.9"], {"min_resemblance": 0.9}),
        (["--min-containment", "0"], {"min_containment": 0}),
        (["--min-contained", "0.2"], {"min_contained": 0.2}),
        (["--min-containment", "0.2", "--min-contained", "0.3"], {"min_containment": 0.2, "min_contained": 0.3}),
        (["--min-containment", "0", "--limit", "2"], {"min_containment": 0, "limit": 2}),
        (["--site", "Example.COM"], {"where": Filters(site="example.com")}),
        (
            ["--crawl", "first", "--all-captures", "--min-resemblance", "0.3"],
            {"min_resemblance": 0.3, "where": Filters(crawl="first"), "all_captures": True},
        ),
        (["--until", "2024-03"], {"where": Filters(until=datetime(2024, 4, 1, tzinfo=UTC))}),
        (["--since", "2024-03-02"], {"where": Filters(since=datetime(2024, 3, 2, tzinfo=UTC))}),
        (
            ["--at", "2023", "--min-resemblance", "0.3"],
            {"min_resemblance": 0.3, "at": datetime(2023, 12, 31, tzinfo=UTC)},
        ),
        (["--guarantee", "200", "--min-containment", "0"], {"guarantee": 200, "min_containment": 0}),
        (["--estimate"], {"exact": False}),
        (["--no-boilerplate"], {"boilerplate": False}),
    ],
)
def test_options_equal_parameters_of_the_library(
    winnow: Winnow, crawl: Path, options: list[str], question: dict[str, object]
) -> None:
    answer = json.loads(winnow("similar", MILL, "--store", crawl, "--json", *options).stdout)
    found = matches_of(crawl, url=MILL, **question)
    assert len(found)
    assert [(each["id"], each["resemblance"], each["kind"]) for each in answer["matches"]] == [
        (each.card.id, each.resemblance, each.kind) for each in found
    ]


def test_a_capture_by_its_id(winnow: Winnow, crawl: Path) -> None:
    by_date = winnow("similar", MILL, "--at", "2023", "--min-containment", "0", "--store", crawl).stdout
    first = json.loads(winnow("history", MILL, "--store", crawl, "--json").stdout)["captures"][0]["id"]
    assert winnow("similar", first, "--min-containment", "0", "--store", crawl).stdout == by_date
    assert by_date.count("\n") > 1


def test_rows_have_full_urls(process: Process, crawl: Path) -> None:
    done = process("similar", MILL, "--store", crawl)
    rows = list(csv.DictReader(done.stdout.decode().splitlines(), delimiter="\t"))
    found = matches_of(crawl, url=MILL)
    assert list(rows[0]) == [*PAGE, *SCORES, "kind", "error", "passages", "relationship"]
    assert [float(row["resemblance"]) for row in rows] == [pytest.approx(each.resemblance, abs=1e-5) for each in found]
    assert any(len(row["url"]) > 300 for row in rows)
    best = rows[0]
    assert (best["kind"], best["error"], best["passages"]) == ("exact", "0", str(len(found[0].passages)))
    assert (best["fetched_at"], best["url"]) == ("2024-03-02T00:00:00Z", "http://mirror.example/mill")
    assert (best["title"], best["relationship"]) == ("漢字の水車小屋", "identical")
    assert not CONTROL_CHARACTERS.search("".join("".join(row.values()) for row in rows))
    assert done.stderr == b""


def test_the_answer_goes_to_a_file(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    printed = winnow("similar", MILL, "--store", crawl, "--csv").stdout
    for name in ("answer.csv", "answer.json", "answer.parquet"):
        done = winnow("similar", MILL, "--store", crawl, "--to", tmp_path / name)
        assert (done.exit_code, done.stdout) == (0, "")
    found = matches_of(crawl, url=MILL)
    assert json.loads((tmp_path / "answer.json").read_text())["matches"] == found.to_dict()["matches"]
    assert pq.read_table(tmp_path / "answer.parquet").equals(found.to_arrow())
    written = list(csv.DictReader((tmp_path / "answer.csv").read_text().splitlines()))
    assert [each["id"] for each in written] == [each.id for each in found]
    assert [each["id"] for each in csv.DictReader(printed.splitlines())] == [each.id for each in found]
    question = tmp_path / "question.csv"
    question.write_text(found[0].url)
    refused = winnow("similar", "--file", question, "--store", crawl, "--to", question, "--overwrite")
    assert (refused.exit_code, question.read_text()) == (2, found[0].url)


@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_table_on_a_terminal(on_terminal: OnTerminal, crawl: Path, columns: str) -> None:
    code, shown = on_terminal("winnow", "similar", MILL, "--store", crawl.name, COLUMNS=columns)
    *table, summary, next_step = unstyle(shown).splitlines()
    assert code == 0
    assert table[0].startswith("resemblance")
    assert table[1].lstrip().startswith("100 % ██████████")
    assert max(map(width, table)) <= int(columns)
    found = matches_of(crawl, url=MILL)
    assert len(table) == 1 + len(found) * (2 if columns == "80" else 1)
    assert re.fullmatch(rf"{len(found)} pages with a resemblance of at least 50 % · \d+ candidates · \d+ ms", summary)
    assert next_step == f"→ winnow compare {MILL} http://mirror.example/mill --store {crawl.name}"
    assert not CONTROL_CHARACTERS.search(unstyle(shown))
    _, full = on_terminal("winnow", "similar", MILL, "-w", COLUMNS=columns, WINNOW_STORE=str(crawl))
    assert max(map(len, full.splitlines())) > 300
    assert unstyle(full).splitlines()[-1] == f"→ winnow compare {MILL} http://mirror.example/mill"


def test_estimates(winnow: Winnow, on_terminal: OnTerminal, crawl: Path) -> None:
    matches = json.loads(winnow("similar", MILL, "--store", crawl, "--estimate", "--json").stdout)["matches"]
    assert {match["kind"] for match in matches} == {"estimate"}
    assert {len(match["passages"]) for match in matches} == {0}
    assert "≈" in on_terminal("winnow", "similar", MILL, "--store", crawl, "--estimate")[1]


def test_a_text_a_file_and_html_are_the_same_question(
    winnow: Winnow, crawl: Path, tmp_path: Path, prose: Callable[..., str]
) -> None:
    quote = prose(60, 0)
    by_text = winnow("similar", "--text", quote, "--store", crawl, "--json")
    urls = [each["url"] for each in json.loads(by_text.stdout)["matches"]]
    assert set(urls) >= {MILL, "http://mirror.example/mill", "http://example.net/quote"}
    markup = f"<!doctype html><title>no text</title><script>x()</script><p>{quote}</p>"
    (tmp_path / "quote.txt").write_text(quote)
    (tmp_path / "quote.htm").write_text(f"﻿\n {markup}")
    (tmp_path / "quote").write_text(f" \n{markup}")
    (tmp_path / "wide").write_bytes(markup.encode("utf-16"))
    for name in ("quote.txt", "quote.htm", "quote", "wide"):
        answer = json.loads(winnow("similar", "--file", tmp_path / name, "--store", crawl, "--json").stdout)
        assert [(each["url"], each["containment"]) for each in answer["matches"]] == [(url, 1) for url in urls], name
    piped = winnow("similar", "--file", "-", "--store", crawl, "--json", stdin=markup)
    assert [each["url"] for each in json.loads(piped.stdout)["matches"]] == urls


def test_exactly_one_question_is_required(winnow: Winnow, crawl: Path) -> None:
    for question in ([], [MILL, "--text", "x"], ["--text", "x", "--file", "y"]):
        done = winnow("similar", *question, "--store", crawl)
        assert done.exit_code == 2
        assert "give exactly one question: the URL of a page in the store, --file, or --text" in done.stderr
    assert "give the URL" in winnow("similar", "--text", "x", "--at", "2024", "--store", crawl).stderr
    assert "not a date such as 2024" in winnow("similar", MILL, "--at", "yesterday", "--store", crawl).stderr
    assert "80" in winnow("similar", MILL, "--min-resemblance", "80", "--store", crawl).stderr


def complaint(done: Result) -> str:
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_an_error_is_one_sentence(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    nearly = "https://example.org/mill"
    assert f"there is {MILL}" in complaint(winnow("similar", nearly, "--store", crawl))
    assert "nothing.winnow" in complaint(winnow("similar", MILL, "--store", tmp_path / "nothing.winnow"))
    assert not (tmp_path / "nothing.winnow").exists()
    (tmp_path / "page.txt").write_text("a page")
    assert "--file " in complaint(winnow("similar", tmp_path / "page.txt", "--store", crawl))
    assert "no file" in complaint(winnow("similar", "--file", tmp_path / "gone", "--store", crawl))
    complaint(winnow("similar", "--file", tmp_path / "page.txt", "--store", tmp_path / "page.txt"))
    complaint(winnow("similar", "--text", "", "--store", crawl))
    (tmp_path / "empty.html").write_text("<title>only</title>")
    complaint(winnow("similar", "--file", tmp_path / "empty.html", "--store", crawl))
    assert "149" in complaint(winnow("similar", MILL, "--guarantee", "100", "--store", crawl))


def test_nothing_found_suggests_what_would_find_something(
    winnow: Winnow, crawl: Path, prose: Callable[..., str]
) -> None:
    done = winnow("similar", "http://example.net/quote", "--store", crawl)
    assert done.exit_code == 1
    first, second = done.stderr.splitlines()
    assert first == "No page with a resemblance of at least 50 %"
    offer = re.fullmatch(
        r"The closest page scores (\d+) %; a threshold of (\d+) % finds (\d+) pages?: (--\S+) (\S+)", second
    )
    assert offer is not None
    assert int(offer[1]) >= int(offer[2]) == round(100 * float(offer[5]))
    again = winnow("similar", "http://example.net/quote", "--store", crawl, offer[4], offer[5], "--json")
    assert json.loads(again.stdout)["total"] == int(offer[3])
    empty = winnow("similar", "http://example.net/quote", "--store", crawl, "--json")
    assert (empty.exit_code, json.loads(empty.stdout)["matches"]) == (1, [])
    unheard = winnow("similar", "--text", prose(60, 99), "--store", crawl)
    assert unheard.exit_code == 1
    assert (
        "None of 7 pages shares a passage with it; a shared run of 149 letters and digits is always found"
        in unheard.stderr
    )


@pytest.mark.parametrize("options", [(), ("--min-containment", "0")])
def test_a_few_words_are_too_short_to_be_a_copy(
    winnow: Winnow, crawl: Path, prose: Callable[..., str], options: tuple[str, ...]
) -> None:
    words = " ".join(prose(60, 0).split()[7:10])
    done = winnow("similar", "--text", words, "--store", crawl, "--json", *options)
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["too_short"], answer["matches"]) == (1, True, [])
    letters = len(words.replace(" ", ""))
    assert done.stderr == (
        f"Too short to check for copies: it has {letters} letters and digits, and at least 50 are needed;"
        f" 5 pages have these words in a row: winnow search '\"{words}\"'\n"
    )
    assert json.loads(winnow("search", f'"{words}"', "--store", crawl, "--json").stdout)["total"] == 5
    none = winnow("similar", "--text", "unheard-of", "--store", crawl)
    assert none.stderr.endswith("are needed; no page has this word\n")


def test_nothing_found_with_filters(winnow: Winnow, crawl: Path) -> None:
    done = winnow("similar", MILL, "--site", "example.net", "--store", crawl)
    found = matches_of(crawl, url=MILL).total
    assert done.exit_code == 1
    assert done.stderr.splitlines()[1] == f"Without --site there are {found}"
    both = winnow(
        "similar", MILL, "--min-resemblance", "0.9", "--min-containment", "1", "--site", "example.net", "--store", crawl
    )
    assert "Without --site" in both.stderr
    all_of = winnow(
        "similar", "http://example.net/quote", "--min-resemblance", "0.9", "--min-containment", "0.9", "--store", crawl
    )
    assert "No page reaches every threshold; " in all_of.stderr
    assert "share a passage with it: --min-containment 0" in all_of.stderr
    zero_first = winnow(
        "similar", "http://example.net/quote", "--min-resemblance", "0", "--min-containment", "0.9", "--store", crawl
    )
    assert "share a passage with it: --min-containment 0" in zero_first.stderr
    none = winnow("similar", "--text", "unheard of " * 40, "--min-containment", "0", "--store", crawl)
    assert none.stderr.splitlines()[1].startswith("None of 7 pages shares a passage with it; a shared run of 149")


def test_an_empty_store_says_so(winnow: Winnow, tmp_path: Path, prose: Callable[..., str]) -> None:
    empty = tmp_path / "empty.winnow"
    with Index.open(empty) as index:
        index.add([])
    for question in (["similar", "--text", prose(60)], ["search", "words"], ["stats"]):
        done = winnow(*question, "--store", empty)
        assert done.exit_code == 1
        assert "is empty; add pages with: winnow index SOURCE --store" in done.stderr


@pytest.mark.check
def test_a_licence_is_found_among_others(winnow: Winnow, root: Path, tmp_path: Path) -> None:
    """Our licence is found in the SPDX list."""
    store, lines = tmp_path / "spdx.winnow", tmp_path / "licences.jsonl"
    lines.write_text("\n".join(json.dumps({"url": page.url, "html": page.html}) for page in licences()))
    assert winnow("index", lines, "--store", store, "--workers", "1", "-q").exit_code == 0
    done = winnow("similar", "--file", root / "LICENSE", "--store", store, "--json")
    best, *others = json.loads(done.stdout)["matches"]
    assert best["url"].endswith("/Apache-2.0.html")
    assert best["containment"] > 0.99
    assert others
    assert all(0.5 <= match["containment"] <= best["containment"] for match in others)


@pytest.mark.check
def test_a_licence_is_found_among_real_pages(
    winnow: Winnow, unpacked: Callable[[str], Path], root: Path, tmp_path: Path
) -> None:
    """Our licence is found on its page of a site with 821 licences, and the site's template is not mistaken for it."""
    store = tmp_path / "spdx.winnow"
    pages = unpacked("spdx-license-pages")
    base = "https://spdx.org/licenses/"
    assert winnow("index", pages, "--base-url", base, "--store", store, "--workers", "1", "-q").exit_code == 0
    done = winnow("similar", "--file", root / "LICENSE", "--store", store, "--json")
    best, *others = json.loads(done.stdout)["matches"]
    assert best["url"].endswith("/Apache-2.0.html")
    assert best["containment"] == 1
    assert best["contained"] < 1
    assert others
    assert all(0.5 <= match["containment"] < 1 for match in others)
    learned = json.loads(winnow("boilerplate", "learn", "--store", store, "--json").stdout)["boilerplate"]
    assert [(each["site"], each["learned"]) for each in learned] == [("spdx.org", True)]
    mit, zlib = (next(pages.rglob(name)).relative_to(pages) for name in ("MIT.html", "Zlib.html"))
    pair = winnow("compare", f"{base}{mit}", f"{base}{zlib}", "--store", store, "--json")
    assert len(json.loads(pair.stdout)["boilerplate"]) >= 2
    assert json.loads(pair.stdout)["passages"] == []


def test_matches_beyond_the_limit_are_counted(winnow: Winnow, crawl: Path) -> None:
    done = winnow("similar", MILL, "--limit", "1", "--store", crawl)
    assert done.exit_code == 0
    assert f"showing 1 of {matches_of(crawl, url=MILL).total} matches; --limit shows more" in done.stderr


def test_pages_that_were_not_compared_are_counted(winnow: Winnow, crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    question = ["similar", MILL, "--min-containment", "0", "--limit", "1", "--all-captures", "--store", crawl]
    every = matches_of(crawl, url=MILL, min_containment=0, all_captures=True).total
    monkeypatch.setattr(similar, "MIN_COMPARED", 3)  # the page itself and its copies
    done = winnow(*question)
    left = every - 2
    assert f"Compared the 2 captures that share the most; {left} others share a passage, too: a higher" in done.stderr
    assert f"showing 1 of {every} matches" in done.stderr
    assert json.loads(winnow(*question, "--json").stdout)["uncompared"] == left


@pytest.mark.check
@pytest.mark.parametrize(
    "command", [f"similar {MILL}", "search the", "stats", f"compare {MILL} http://mirror.example/mill", "stats --json"]
)
def test_a_pipe_that_is_closed_is_quiet(crawl: Path, command: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    arguments = [str(Path(sys.executable).with_name("winnow")), *command.split(), "--store", str(crawl)]
    with subprocess.Popen(arguments, stdout=writing, stderr=subprocess.PIPE) as run:
        os.close(writing)
        assert run.communicate()[1] == b""
    assert run.returncode == 128 + signal.SIGPIPE
