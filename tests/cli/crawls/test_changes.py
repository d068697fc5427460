"""winnow changes: a table, rows, CSV and JSON of what became of the pages between two crawls."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Index, Page, compare
from opensearch_winnow.answers.crawls.changes import changes_summary
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.cli.crawls.changes import table
from opensearch_winnow.foundation.answer_keys import columns_of
from opensearch_winnow.operations.crawls.changes import Change
from tests.meaningless_text import sentences
from tests.operations.crawls.test_extract import record

Winnow = Callable[..., Result]
OnTerminal = Callable[..., tuple[int, str]]
SITE = "http://example.org"
DAYS = {"spring": datetime(2024, 3, 1, tzinfo=UTC), "autumn": datetime(2024, 9, 1, tzinfo=UTC)}
CHANGED = sentences(80, 1), f"{sentences(80, 1)}\n\nAdded on purpose, in a paragraph of its own."


@pytest.fixture(scope="module")
def two_crawls(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store of two crawls: a page is unchanged, one has changed, one moved, one is gone, and one is new."""
    same, moved, gone, new = (sentences(60, seed) for seed in (0, 2, 3, 4))
    texts = {
        "spring": {"same": same, "changed": CHANGED[0], "old/moved": moved, "gone": gone},
        "autumn": {"same": same, "changed": CHANGED[1], "new/moved": moved, "=new": new},
    }
    store = tmp_path_factory.mktemp("changes") / "crawl.winnow"
    with Index.open(store) as index:
        for crawl, pages in texts.items():
            made = [Page(f"{SITE}/{name}", text=text, fetched_at=DAYS[crawl]) for name, text in pages.items()]
            index.add(made, crawl=crawl)
    return store


def test_json(winnow: Winnow, two_crawls: Path) -> None:
    done = winnow("changes", "--from", "spring", "--to", "autumn", "--store", two_crawls, "--json")
    answer = json.loads(done.stdout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert (answer["from"], answer["to"], answer["template"]) == ("spring", "autumn", 0)
    assert answer["counts"] == {
        "unchanged": 1, "changed": 1, "moved": 1, "split": 0, "merged": 0, "new": 1, "not_seen": 1
    }  # fmt: skip
    assert [(each["change"], each["url"], each["to_url"]) for each in answer["pages"]] == [
        ("moved", f"{SITE}/old/moved", f"{SITE}/new/moved"),
        ("not_seen", f"{SITE}/gone", None),
        ("new", f"{SITE}/=new", f"{SITE}/=new"),
        ("changed", f"{SITE}/changed", f"{SITE}/changed"),
        ("unchanged", f"{SITE}/same", f"{SITE}/same"),
    ]
    changed = answer["pages"][3]
    assert changed["resemblance"] == compare(*CHANGED).resemblance
    assert (changed["fetched_at"], changed["to_fetched_at"]) == ("2024-03-01T00:00:00Z", "2024-09-01T00:00:00Z")
    with Index.open(two_crawls) as index:
        assert [index.capture(changed[key]).text for key in ("id", "to_id")] == list(CHANGED)
    assert changed["removed"] is None


def test_the_two_latest_crawls_and_dates(winnow: Winnow, two_crawls: Path) -> None:
    expected = json.loads(
        winnow("changes", "--from", "spring", "--to", "autumn", "--store", two_crawls, "--json").stdout
    )
    assert json.loads(winnow("changes", "--store", two_crawls, "--json").stdout) == expected
    dates = json.loads(winnow("changes", "--from", "2024-03", "--to", "2024", "--store", two_crawls, "--json").stdout)
    assert dates == {**expected, "from": "2024-03", "to": "2024"}


def test_passages(winnow: Winnow, two_crawls: Path) -> None:
    answer = json.loads(winnow("changes", "--store", two_crawls, "--passages", "--json").stdout)
    moved, gone, new, changed, same = answer["pages"]
    assert changed["removed"] == []
    (added,) = changed["added"]
    assert added["text"] == "Added on purpose, in a paragraph of its own"
    assert CHANGED[1][added["start"] : added["end"]] == added["text"]
    assert (moved["removed"], moved["added"]) == ([], [])
    assert new["added"] is gone["removed"] is same["removed"] is None
    refused = winnow("changes", "--store", two_crawls, "--passages")
    assert (refused.exit_code, refused.stderr.splitlines()[-1]) == (
        2,
        "Error: only a table on a terminal and --json have room for --passages",
    )


def test_rows_in_a_pipe_and_csv(winnow: Winnow, two_crawls: Path) -> None:
    pages = json.loads(winnow("changes", "--store", two_crawls, "--json").stdout)["pages"]
    head, *rows = [line.split("\t") for line in winnow("changes", "--store", two_crawls).stdout.splitlines()]
    assert head == [each.name for each in columns_of(Change)]
    assert [row[:3] for row in rows] == [[each["change"], each["url"], each["to_url"] or ""] for each in pages]
    comma = list(csv.DictReader(io.StringIO(winnow("changes", "--store", two_crawls, "--csv").stdout)))
    assert [row["to_id"] for row in comma] == [each["to_id"] or "" for each in pages]
    assert winnow("changes", "--store", two_crawls, "--csv", "--json").exit_code == 2


def test_some_of_the_pages(winnow: Winnow, two_crawls: Path) -> None:
    def listed(*options: str) -> tuple[int, list[str]]:
        done = winnow("changes", "--store", two_crawls, "--json", *options)
        return done.exit_code, [each["change"] for each in json.loads(done.stdout)["pages"]]

    assert listed("--change", "moved", "--change", "new") == listed("--change", "moved,new") == (0, ["moved", "new"])
    assert listed("--change", "split") == (1, [])
    assert listed("--near-revisits") == (0, ["unchanged"])
    assert listed("--near-revisits", "--min-resemblance", "80%") == (0, ["changed", "unchanged"])
    limited = winnow("changes", "--store", two_crawls, "--limit", "1")
    assert limited.stderr == ""  # there is one page of each kind


def test_near_revisits_as_an_index_of_their_archive(winnow: Winnow, tmp_path: Path) -> None:
    texts = {name: f"<p>{sentences(60, seed)}".encode() for seed, name in enumerate(["same", "other"])}
    with Index.open(tmp_path / "crawl.winnow") as index:
        for number, crawl in enumerate(DAYS):
            pages = {**texts, "other": texts["other"] + sentences(60, 7).encode() * number}
            records = [record(100 * number, f"{SITE}/{name}", body) for name, body in pages.items()]
            (tmp_path / f"{crawl}.warc").write_bytes(b"".join(records))
            index.index(tmp_path / f"{crawl}.warc", crawl=crawl)
        later = index.history(f"{SITE}/same")[-1].card.fetched_at
    done = winnow("changes", "--near-revisits", "--cdxj", "--store", tmp_path / "crawl.winnow", "--quiet")
    (line,) = done.stdout.splitlines()
    key, time, entry = line.split(" ", 2)
    assert later is not None
    assert (key, time) == ("org,example)/same", f"{later:%Y%m%d%H%M%S}")
    assert json.loads(entry) == json.loads(entry) | {"url": f"{SITE}/same", "filename": "autumn.warc", "offset": "0"}


def test_pages_without_an_archive_are_not_in_its_index(winnow: Winnow, two_crawls: Path) -> None:
    done = winnow("changes", "--near-revisits", "--cdxj", "--store", two_crawls)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "1 capture left out: not from a web archive" in done.stderr


def test_pages_without_a_text_may_have_changed(winnow: Winnow, tmp_path: Path) -> None:
    store, url = tmp_path / "crawls.winnow", f"{SITE}/revisited"
    with Index.open(store) as index:
        for crawl, month, payload in (("spring", 3, "sha1:A"), ("autumn", 9, "sha1:B")):
            time = datetime(2024, month, 1, tzinfo=UTC)
            index.add([Page(url, revisit_of=url, payload_digest=payload, fetched_at=time)], crawl=crawl)
        changes = index.changes()
    assert (changes.counts["changed"], changes.without_text) == (1, 1)
    summary = "1 of 1 page changed or may have changed (1 has no text to compare)"
    assert changes_summary(changes) == summary
    lines = ["".join(text for text, _ in line) for line in table(changes, 80)]
    assert lines[1] == "changed         1  (1 has no text to compare)"
    assert lines[-1] == f"{url} (no text to compare)"
    done = winnow("changes", "--store", store, "--csv")
    assert (done.exit_code, done.stderr) == (
        0,
        "Of the changed pages, 1 has no text to compare and may be unchanged\n",
    )


def test_nothing_changed(winnow: Winnow, tmp_path: Path) -> None:
    with Index.open(tmp_path / "same.winnow") as index:
        for crawl, day in DAYS.items():
            index.add([Page(SITE, text=sentences(60), fetched_at=day)], crawl=crawl)
    done = winnow("changes", "--store", tmp_path / "same.winnow", "--json")
    assert (done.exit_code, done.stderr) == (1, "No page changed\n")
    assert json.loads(done.stdout)["counts"]["unchanged"] == 1


def test_table_on_a_terminal(on_terminal: OnTerminal, two_crawls: Path) -> None:
    code, shown = on_terminal(
        "winnow", "changes", "--store", two_crawls, "--passages", "--quiet", NO_COLOR="1", COLUMNS="70"
    )
    assert code == 0
    assert shown.splitlines()[:-1] == [
        "unchanged       1",
        "changed         1",
        "moved           1",
        "split           0",
        "merged          0",
        "new             1",
        "not seen again  1",
        "",
        "moved: 1 page",
        "100 % ██████████  http://example.org/old/moved",
        "                  → http://example.org/new/moved",
        "",
        "not seen again: 1 page",
        "http://example.org/gone",
        "",
        "new: 1 page",
        "http://example.org/=new",
        "",
        "changed: 1 page",
        " 89 % ████████▉   http://example.org/changed",
        "                  + Added on purpose, in a paragraph of its own",
        "1 of 4 pages changed, 1 moved, 1 not seen again, 1 is new: from spring to autumn",
    ]
    with Index.open(two_crawls) as index:
        ids = [index.page(f"{SITE}/{name}").id for name in ("old/moved", "new/moved")]
    assert shown.splitlines()[-1].startswith(f"→ winnow compare {' '.join(ids)}")
    assert all(width(line) <= 70 for line in shown.splitlines()[:-2])  # sentences are not cut


@pytest.mark.check
def test_a_terminal_shows_some_pages_of_each_kind(on_terminal: OnTerminal, tmp_path: Path) -> None:
    folder = f"{SITE}/{'very/' * 8}deep"
    with Index.open(tmp_path / "crawl.winnow") as index:
        for crawl, day in DAYS.items():
            pages = [
                Page(f"{folder}/{each}", text=sentences(30, 100 * day.month + each), fetched_at=day)
                for each in range(25)
            ]
            index.add(pages, crawl=crawl)
    words = "winnow", "changes", "--store", tmp_path / "crawl.winnow", "--quiet"
    _, shown = on_terminal(*words, NO_COLOR="1", COLUMNS="60")
    assert f"changed: 20 of 25 pages, … is {folder}" in shown
    assert "showing at most 20 pages of each kind; --limit shows more" in shown
    _, shown = on_terminal(*words, "--limit", "30", "--full", NO_COLOR="1", COLUMNS="60")
    assert "changed: 25 pages\n" in shown.replace("\r", "")
    assert f"{folder}/24" in shown


def test_what_cannot_be_compared_is_refused(winnow: Winnow, two_crawls: Path, crawl: Path) -> None:
    def refused(*options: str, store: Path = two_crawls) -> str:
        done = winnow("changes", "--store", store, *options)
        assert (done.exit_code, done.stdout) == (2, "")
        return done.stderr.splitlines()[-1]

    there = f"{two_crawls} has the crawls autumn, spring"
    assert refused("--from", "winter", "--to", "autumn") == f"Error: there is no crawl 'winter': {there}"
    one_of_each = "Error: name two crawls or two dates, not one of each: there is no crawl '2024-09'"
    assert refused("--from", "spring", "--to", "2024-09") == one_of_each
    assert (
        refused("--from", "autumn", "--to", "spring")
        == "Error: crawl 'autumn' is later than 'spring': exchange the two"
    )
    assert refused("--site", "www.example.org").endswith(
        "has no page of the site www.example.org; there is example.org"
    )
    assert refused("--site", "example.net").endswith("has no page of the site example.net")
    assert refused("--from", "spring", "--to", "spring").endswith(f"cannot be compared with itself: {there}")
    assert refused("--from", "spring").startswith("Error: give both crawls, from and to")
    assert refused("--from", "2023", "--to", "2024").endswith(
        "no capture that is known to be from 2023-12-31 or before"
    )
    with Index.open(crawl.with_name("one.winnow")) as index:
        index.add([Page(SITE, text=sentences(60))], crawl="only")
    one = crawl.with_name("one.winnow")
    assert refused(store=one).endswith(f"{one} has only one crawl, 'only'; index another one, or compare two dates")
