"""winnow similar: the table, the rows, the JSON, and the messages if nothing is found."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from click import unstyle

from opensearch_winnow.answers.display_text import width
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking import similar
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.filters import Filters
from tests.cli.conftest import MILL, OnTerminal, Process, Prose, Winnow
from tests.cli.sample_card import CONTROL_CHARACTERS
from tests.public_pages import licences

QUOTE, MIRROR = "http://example.net/quote", "http://mirror.example/mill"
HEADER = (
    *("id", "url", "title", "site", "fetched_at", "resemblance", "containment", "contained"),
    *("kind", "error", "passages", "relationship"),
)


def matches_of(store: Path, **question: object) -> Matches:
    with Index.open(store, create=False) as index:
        return index.similar(**question)  # type: ignore[call-overload, no-any-return]


def test_json_equals_the_answer_of_the_library(winnow: Winnow, crawl: Path) -> None:
    done = winnow("similar", MILL, "--store", crawl, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stdout.count("\n")) == (0, 1)
    assert answer == matches_of(crawl, url=MILL).to_dict() | {"seconds": answer["seconds"]}
    assert (answer["matches"][0]["url"], answer["min_score"]) == (MIRROR, 0.5)


@pytest.mark.parametrize(
    ("options", "question"),
    [
        ("--min-resemblance 0.9", {"min_resemblance": 0.9}),
        ("--min-containment 0", {"min_containment": 0}),
        ("--min-contained 0.2", {"min_contained": 0.2}),
        ("--min-containment 0.2 --min-contained 0.3", {"min_containment": 0.2, "min_contained": 0.3}),
        ("--min-containment 0 --limit 2", {"min_containment": 0, "limit": 2}),
        ("--site Example.COM", {"where": Filters(site="example.com")}),
        (
            "--crawl first --all-captures --min-resemblance 0.3",
            {"min_resemblance": 0.3, "where": Filters(crawl="first"), "all_captures": True},
        ),
        ("--until 2024-03", {"where": Filters(until=datetime(2024, 4, 1, tzinfo=UTC))}),
        ("--since 2024-03-02", {"where": Filters(since=datetime(2024, 3, 2, tzinfo=UTC))}),
        ("--at 2023 --min-resemblance 0.3", {"min_resemblance": 0.3, "at": datetime(2023, 12, 31, tzinfo=UTC)}),
        ("--guarantee 200 --min-containment 0", {"guarantee": 200, "min_containment": 0}),
        ("--estimate", {"exact": False}),
        ("--no-boilerplate", {"boilerplate": False}),
    ],
)
def test_options_equal_parameters_of_the_library(
    winnow: Winnow, crawl: Path, options: str, question: dict[str, object]
) -> None:
    answer = winnow.json("similar", MILL, "--store", crawl, *options.split())
    found = matches_of(crawl, url=MILL, **question)
    assert len(found)
    assert answer["matches"] == found.to_dict()["matches"]


def test_a_capture_by_its_id(winnow: Winnow, crawl: Path) -> None:
    by_date = winnow("similar", MILL, "--at", "2023", "--min-containment", "0", "--store", crawl).stdout
    first = winnow.json("history", MILL, "--store", crawl)["captures"][0]["id"]
    assert winnow("similar", first, "--min-containment", "0", "--store", crawl).stdout == by_date
    assert by_date.count("\n") > 1


def test_rows_have_full_urls(process: Process, crawl: Path) -> None:
    done = process("similar", MILL, "--store", crawl)
    best, *rows = csv.DictReader(done.stdout.decode().splitlines(), delimiter="\t")
    found = matches_of(crawl, url=MILL)
    assert (tuple(best), done.stderr) == (HEADER, b"")
    assert [row["resemblance"] for row in (best, *rows)] == [f"{each.resemblance:.6g}" for each in found]
    assert any(len(row["url"]) > 300 for row in rows)
    assert [best[name] for name in ("kind", "error", "passages")] == ["exact", "0", str(len(found[0].passages))]
    assert (best["fetched_at"], best["url"]) == ("2024-03-02T00:00:00Z", MIRROR)
    assert (best["title"], best["relationship"]) == ("漢字の水車小屋", "identical")
    assert not CONTROL_CHARACTERS.search("".join("".join(row.values()) for row in rows))


def test_the_answer_goes_to_a_file(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    for name in ("answer.csv", "answer.json", "answer.parquet"):
        done = winnow("similar", MILL, "--store", crawl, "--to", tmp_path / name)
        assert (done.exit_code, done.stdout) == (0, "")
    found = matches_of(crawl, url=MILL)
    assert json.loads((tmp_path / "answer.json").read_text())["matches"] == found.to_dict()["matches"]
    assert pq.read_table(tmp_path / "answer.parquet").equals(found.to_arrow())
    printed = winnow("similar", MILL, "--store", crawl, "--csv").stdout
    for written in ((tmp_path / "answer.csv").read_text(), printed):
        assert [each["id"] for each in csv.DictReader(written.splitlines())] == [each.id for each in found]
    question = tmp_path / "question.csv"
    question.write_text(MIRROR)
    winnow.refused("similar", "--file", question, "--store", crawl, "--to", question, "--overwrite")
    assert question.read_text() == MIRROR


@pytest.mark.parametrize("columns", ["80", "120"])
def test_a_table_on_a_terminal(on_terminal: OnTerminal, crawl: Path, columns: str) -> None:
    code, shown = on_terminal("winnow", "similar", MILL, "--store", crawl.name, COLUMNS=columns)
    *table, summary, next_step = unstyle(shown).splitlines()
    assert (code, table[0].split()[0]) == (0, "resemblance")
    assert table[1].lstrip().startswith("100 % ██████████")
    assert max(map(width, table)) <= int(columns)
    found = matches_of(crawl, url=MILL)
    assert len(table) == 1 + len(found) * (2 if columns == "80" else 1)
    assert re.fullmatch(rf"{len(found)} pages with a resemblance of at least 50 % · \d+ candidates · \d+ ms", summary)
    assert next_step == f"→ winnow compare {MILL} {MIRROR} --store {crawl.name}"
    assert not CONTROL_CHARACTERS.search(unstyle(shown))
    _, full = on_terminal("winnow", "similar", MILL, "-w", COLUMNS=columns, WINNOW_STORE=str(crawl))
    assert max(map(len, full.splitlines())) > 300
    assert unstyle(full).splitlines()[-1] == f"→ winnow compare {MILL} {MIRROR}"
    assert "≈" in on_terminal("winnow", "similar", MILL, "--store", crawl, "--estimate")[1]


def test_a_text_a_file_and_html_are_the_same_question(
    winnow: Winnow, crawl: Path, tmp_path: Path, prose: Prose
) -> None:
    quote = prose(60, 0)
    urls = [each["url"] for each in winnow.json("similar", "--text", quote, "--store", crawl)["matches"]]
    assert set(urls) >= {MILL, MIRROR, QUOTE}
    markup = f"<!doctype html><title>no text</title><script>x()</script><p>{quote}</p>"
    (tmp_path / "quote.txt").write_text(quote)
    (tmp_path / "quote.htm").write_text(f"\ufeff\n {markup}")
    (tmp_path / "quote").write_text(f" \n{markup}")
    (tmp_path / "wide").write_bytes(markup.encode("utf-16"))
    for file in (*(tmp_path / name for name in ("quote.txt", "quote.htm", "quote", "wide")), "-"):
        answer = winnow.json("similar", "--file", file, "--store", crawl, stdin=markup)
        assert [(each["url"], each["containment"]) for each in answer["matches"]] == [(url, 1) for url in urls], file


def test_an_error_is_one_sentence(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    page, empty, missing = (tmp_path / name for name in ("page.txt", "empty.html", "nothing.winnow"))
    page.write_text("a page")
    empty.write_text("<title>only</title>")
    complaints: list[tuple[list[str | Path], str]] = [
        (["https://example.org/mill", "--store", crawl], f"there is {MILL}"),
        ([MILL, "--store", missing], "nothing.winnow"),
        ([page, "--store", crawl], "--file "),
        (["--file", tmp_path / "gone", "--store", crawl], "no file"),
        (["--file", page, "--store", page], ""),
        (["--text", "", "--store", crawl], ""),
        (["--file", empty, "--store", crawl], ""),
        ([MILL, "--guarantee", "100", "--store", crawl], "149"),
    ]
    for arguments, complaint in complaints:
        done = winnow("similar", *arguments)
        assert (done.exit_code, done.stdout, done.stderr.count("\n")) == (2, "", 1)
        assert done.stderr.startswith("Error: "), arguments
        assert complaint in done.stderr, arguments
    assert not missing.exists()
    for question in ([], [MILL, "--text", "x"], ["--text", "x", "--file", "y"]):
        assert "give exactly one question" in winnow.refused("similar", *question, "--store", crawl)
    assert "give the URL" in winnow.refused("similar", "--text", "x", "--at", "2024", "--store", crawl)
    assert "not a date such as 2024" in winnow.refused("similar", MILL, "--at", "yesterday", "--store", crawl)
    assert "80" in winnow.refused("similar", MILL, "--min-resemblance", "80", "--store", crawl)


def test_nothing_found_suggests_what_would_find_something(winnow: Winnow, crawl: Path, prose: Prose) -> None:
    def said(*arguments: str) -> list[str]:
        done = winnow("similar", *arguments, "--store", crawl)
        assert done.exit_code == 1
        return done.stderr.splitlines()

    first, second = said(QUOTE)
    assert first == "No page with a resemblance of at least 50 %"
    offer = re.fullmatch(
        r"The closest page scores (\d+) %; a threshold of (\d+) % finds (\d+) pages?: (--\S+) (\S+)", second
    )
    assert offer is not None
    assert int(offer[1]) >= int(offer[2]) == round(100 * float(offer[5]))
    assert winnow.json("similar", QUOTE, "--store", crawl, offer[4], offer[5])["total"] == int(offer[3])
    assert winnow.json("similar", QUOTE, "--store", crawl, code=1)["matches"] == []
    for options in (["--text", prose(60, 99)], ["--text", "unheard of " * 40, "--min-containment", "0"]):
        assert "None of 7 pages shares a passage with it; a shared run of 149 " in said(*options)[1]
    elsewhere = (MILL, "--site", "example.net")
    assert said(*elsewhere)[1] == f"Without --site there are {matches_of(crawl, url=MILL).total}"
    assert "Without --site" in said(*elsewhere, "--min-resemblance", "0.9", "--min-containment", "1")[1]
    for minimum in ("0.9", "0"):
        both = " ".join(said(QUOTE, "--min-resemblance", minimum, "--min-containment", "0.9"))
        assert re.search("No page reaches every threshold; .* share a passage with it: --min-containment 0", both)


@pytest.mark.parametrize("options", [(), ("--min-containment", "0")])
def test_a_few_words_are_too_short_to_be_a_copy(
    winnow: Winnow, crawl: Path, prose: Prose, options: tuple[str, ...]
) -> None:
    words = " ".join(prose(60, 0).split()[7:10])
    done = winnow("similar", "--text", words, "--store", crawl, "--json", *options)
    answer = json.loads(done.stdout)
    assert (done.exit_code, answer["too_short"], answer["matches"]) == (1, True, [])
    assert f"it has {len(words.replace(' ', ''))} letters and digits, and at least 50 are needed" in done.stderr
    assert done.stderr.endswith(f"; 5 pages have these words in a row: winnow search '\"{words}\"'\n")
    assert winnow.json("search", f'"{words}"', "--store", crawl)["total"] == 5
    assert winnow("similar", "--text", "unheard-of", "--store", crawl).stderr.endswith("; no page has this word\n")


def test_an_empty_store_says_so(winnow: Winnow, tmp_path: Path, prose: Prose) -> None:
    empty = tmp_path / "empty.winnow"
    with Index.open(empty) as index:
        index.add([])
    for question in (["similar", "--text", prose(60)], ["search", "words"], ["stats"]):
        done = winnow(*question, "--store", empty)
        assert (done.exit_code, "is empty; add pages with: winnow index SOURCE --store" in done.stderr) == (1, True)


@pytest.mark.check
def test_a_licence_is_found_among_others(winnow: Winnow, root: Path, tmp_path: Path) -> None:
    """Our licence is found in the SPDX list."""
    store, lines = tmp_path / "spdx.winnow", tmp_path / "licences.jsonl"
    lines.write_text("\n".join(json.dumps({"url": page.url, "html": page.html}) for page in licences()))
    assert winnow("index", lines, "--store", store, "--workers", "1", "-q").exit_code == 0
    best, *others = winnow.json("similar", "--file", root / "LICENSE", "--store", store)["matches"]
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
    best, *others = winnow.json("similar", "--file", root / "LICENSE", "--store", store)["matches"]
    assert best["url"].endswith("/Apache-2.0.html")
    assert (best["containment"], best["contained"] < 1) == (1, True)
    assert others
    assert all(0.5 <= match["containment"] < 1 for match in others)
    learned = winnow.json("boilerplate", "learn", "--store", store)["boilerplate"]
    assert [(each["site"], each["learned"]) for each in learned] == [("spdx.org", True)]
    mit, zlib = (next(pages.rglob(name)).relative_to(pages) for name in ("MIT.html", "Zlib.html"))
    done = winnow("compare", f"{base}{mit}", f"{base}{zlib}", "--store", store, "--json")
    pair = json.loads(done.stdout)
    assert (len(pair["boilerplate"]) >= 2, pair["passages"]) == (True, [])


def test_what_is_left_out_is_counted(winnow: Winnow, crawl: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    question = ["similar", MILL, "--min-containment", "0", "--limit", "1", "--all-captures", "--store", crawl]
    every = matches_of(crawl, url=MILL, min_containment=0, all_captures=True).total
    done = winnow(*question)
    assert (done.exit_code, done.stderr) == (0, f"showing 1 of {every} matches; --limit shows more\n")
    monkeypatch.setattr(similar, "MIN_COMPARED", 3)  # the page itself and its copies
    done = winnow(*question)
    left = every - 2
    assert f"Compared the 2 captures that share the most; {left} others share a passage, too: a higher" in done.stderr
    assert f"showing 1 of {every} matches" in done.stderr
    assert winnow.json(*question)["uncompared"] == left
