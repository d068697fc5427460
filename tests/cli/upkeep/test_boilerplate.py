"""winnow boilerplate: add, learn, list, show and remove."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest
from click import unstyle
from click.testing import Result

from opensearch_winnow.answers.display_text import width
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]
Process = Callable[..., CompletedProcess[bytes]]
Prose = Callable[..., str]
MILL = "http://example.org/mill"


@pytest.fixture
def licence(tmp_path: Path, prose: Prose) -> Path:
    """A file with the text that the mill and its quotation share."""
    path = tmp_path / "LICENCE.txt"
    path.write_text(prose(60, 0))
    return path


def shared_with_quote(winnow: Winnow, store: Path) -> tuple[int, int]:
    """Count the passages and the runs of boilerplate that the mill shares with the page that quotes it."""
    done = winnow("compare", MILL, "http://example.net/quote", "--store", store, "--json")
    found = json.loads(done.stdout)
    return len(found["passages"]), len(found["boilerplate"])


def test_registered_boilerplate_is_ignored_until_it_is_removed(winnow: Winnow, crawl: Path, licence: Path) -> None:
    assert shared_with_quote(winnow, crawl) == (1, 0)
    added = winnow("boilerplate", "add", licence, "--store", crawl)
    assert (added.exit_code, added.stdout) == (0, "")
    assert added.stderr == "Added LICENCE.txt: 60 words, for all pages\n"
    assert shared_with_quote(winnow, crawl) == (0, 1)
    nothing = winnow("compare", MILL, "http://example.net/quote", "--store", crawl)
    assert nothing.exit_code == 1
    assert "Nothing shared except boilerplate: 1 run, which --no-boilerplate counts" in nothing.stderr
    head, run = (line.split("\t") for line in nothing.stdout.splitlines())
    assert (run[head.index("boilerplate")], run[head.index("words")]) == ("true", "60")
    counted = winnow("compare", MILL, "http://example.net/quote", "--store", crawl, "--no-boilerplate", "--json")
    assert len(json.loads(counted.stdout)["passages"]) == 1
    removed = winnow("boilerplate", "remove", "LICENCE.txt", "--store", crawl)
    assert (removed.exit_code, removed.stderr) == (0, "Removed LICENCE.txt: 60 words\n")
    assert shared_with_quote(winnow, crawl) == (1, 0)


def test_similar_shows_boilerplate_separately(winnow: Winnow, crawl: Path, licence: Path) -> None:
    winnow("boilerplate", "add", licence, "--store", crawl)
    done = winnow("similar", MILL, "--min-resemblance", "0.1", "--store", crawl, "--json")
    matches = {match["url"]: match for match in json.loads(done.stdout)["matches"]}
    assert "http://example.net/quote" not in matches
    assert len(matches["http://mirror.example/mill"]["boilerplate"]) == 1
    counted = winnow("similar", MILL, "--min-resemblance", "0.1", "--store", crawl, "--json", "--no-boilerplate")
    assert "http://example.net/quote" in {match["url"] for match in json.loads(counted.stdout)["matches"]}


def test_boilerplate_from_files_pages_and_stdin(winnow: Winnow, crawl: Path, tmp_path: Path, prose: Prose) -> None:
    (tmp_path / "footer.html").write_text(f"<title>x</title><p>{prose(30, 50)}<script>y</script>")
    assert (
        winnow("boilerplate", "add", tmp_path / "footer.html", "--site", "Example.ORG", "--store", crawl).exit_code == 0
    )
    assert winnow("boilerplate", "add", MILL, "--store", crawl).exit_code == 0
    piped = winnow("boilerplate", "add", "-", "--name", "piped", "--store", crawl, stdin=prose(20, 51))
    assert piped.exit_code == 0
    listed = json.loads(winnow("boilerplate", "list", "--store", crawl, "--json").stdout)["boilerplate"]
    assert {(each["name"], each["site"], each["learned"], each["words"]) for each in listed} == {
        ("footer.html", "example.org", False, 30), (MILL, None, False, 180), ("piped", None, False, 20)
    }  # fmt: skip
    shown = winnow("boilerplate", "show", "footer.html", "--store", crawl)
    assert (shown.exit_code, shown.stdout.strip()) == (0, prose(30, 50))
    as_json = json.loads(winnow("boilerplate", "show", "piped", "--store", crawl, "--json").stdout)
    assert (as_json["name"], as_json["text"]) == ("piped", prose(20, 51))
    nameless = winnow("boilerplate", "add", "-", "--store", crawl, stdin="x")
    assert (nameless.exit_code, "--name" in nameless.stderr) == (2, True)


def complaint(done: Result) -> str:
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.startswith("Error: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_name_can_be_used_once(winnow: Winnow, crawl: Path, licence: Path, prose: Prose) -> None:
    winnow("boilerplate", "add", licence, "--store", crawl)
    licence.write_text(prose(70, 3))
    assert "use --replace, or choose another --name" in complaint(
        winnow("boilerplate", "add", licence, "--store", crawl)
    )
    assert shared_with_quote(winnow, crawl) == (0, 1)
    replaced = winnow("boilerplate", "add", licence, "--replace", "--store", crawl)
    assert replaced.stderr == "Replaced LICENCE.txt: 70 words, for all pages\n"
    assert shared_with_quote(winnow, crawl) == (1, 0)


def test_unknown_names_are_refused(winnow: Winnow, crawl: Path, licence: Path) -> None:
    for verb in ("show", "remove"):
        assert "has no boilerplate 'LICENCE', or any other" in complaint(
            winnow("boilerplate", verb, "LICENCE", "--store", crawl)
        )
    winnow("boilerplate", "add", licence, "--store", crawl)
    for verb in ("show", "remove"):
        assert "there is LICENCE.txt" in complaint(winnow("boilerplate", verb, "LICENCE", "--store", crawl))
    assert "https://example.org/mill" in complaint(
        winnow("boilerplate", "add", "https://example.org/mill", "--store", crawl)
    )


def test_nothing_registered(winnow: Winnow, crawl: Path) -> None:
    done = winnow("boilerplate", "list", "--store", crawl)
    assert done.exit_code == 1
    assert done.stdout == "name\tsite\tlearned\twords\tbeginning\n"
    assert "No boilerplate in" in done.stderr
    learned = winnow("boilerplate", "learn", "--store", crawl)
    assert learned.exit_code == 1
    assert "Nothing learned" in learned.stderr


def test_a_list_shows_the_beginning_of_long_texts(winnow: Winnow, crawl: Path, tmp_path: Path, prose: Prose) -> None:
    text = prose(500, 9)
    (tmp_path / "terms").write_text(text)
    winnow("boilerplate", "add", tmp_path / "terms", "--store", crawl)
    _, row = winnow("boilerplate", "list", "--store", crawl).stdout.splitlines()
    name, _, _, words, beginning = row.split("\t")
    assert (name, words, beginning) == ("terms", "500", text[:100].strip())
    as_json = json.loads(winnow("boilerplate", "list", "--store", crawl, "--json").stdout)["boilerplate"]
    assert [each["beginning"] for each in as_json] == [beginning]
    assert winnow("boilerplate", "show", "terms", "--store", crawl).stdout.strip() == text


def test_the_template_of_a_site_is_learned(
    winnow: Winnow, on_terminal: OnTerminal, tmp_path: Path, prose: Prose
) -> None:
    template = prose(50, 70)
    with Index.open(tmp_path / "site.winnow") as index:
        index.add(Page(f"http://example.org/{n}", text=f"{template}\n\n{prose(90, 100 + n)}") for n in range(20))
        index.add([Page("http://example.net/", text=f"{template}\n\n{prose(90, 200)}")])
    done = winnow("boilerplate", "learn", "--store", tmp_path / "site.winnow", "--json")
    (learned,) = json.loads(done.stdout)["boilerplate"]
    assert (learned["site"], learned["learned"]) == ("example.org", True)
    assert learned["words"] == pytest.approx(50, abs=10)
    assert template.startswith(learned["beginning"][:40])
    shown = winnow("compare", "http://example.org/1", "http://example.org/2", "--store", tmp_path / "site.winnow")
    assert shown.exit_code == 1
    other = winnow("compare", "http://example.org/1", "http://example.net/", "--store", tmp_path / "site.winnow")
    assert other.exit_code == 0
    _, table = on_terminal("winnow", "boilerplate", "list", "--store", "site.winnow", COLUMNS="80")
    head, row, next_step = unstyle(table).splitlines()
    assert re.split(" {2,}", head)[:3] == ["name", "site", "words"]
    assert "example.org" in row
    assert "learned" in row
    assert max(width(head), width(row)) <= 80
    assert next_step.startswith("→ winnow boilerplate show ")


def test_names_are_completed(process: Process, crawl: Path, licence: Path, winnow: Winnow) -> None:
    winnow("boilerplate", "add", licence, "--store", crawl)
    settings = {
        "_WINNOW_COMPLETE": "bash_complete",
        "COMP_WORDS": "winnow boilerplate remove LI",
        "COMP_CWORD": "3",
        "WINNOW_STORE": str(crawl),
    }
    assert process(**settings).stdout.decode().splitlines() == ["plain,LICENCE.txt"]
    assert process(**settings | {"WINNOW_STORE": "gone.winnow"}).stdout.strip() == b""


def test_boilerplate_of_a_page_is_deleted_with_it(winnow: Winnow, crawl: Path) -> None:
    winnow("boilerplate", "add", MILL, "--name", "imprint", "--store", crawl)
    done = winnow("delete", MILL, "--store", crawl, "--yes", "--no-erase")
    assert "Boilerplate learned again or removed: imprint" in done.stderr
    assert winnow("boilerplate", "list", "--store", crawl).exit_code == 1
