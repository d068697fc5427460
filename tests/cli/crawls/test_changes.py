"""winnow changes: a table, rows, CSV and JSON of what became of the pages between two crawls."""

from __future__ import annotations

import csv
import io
import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page
from opensearch_winnow.answers.crawls.changes import changes_summary
from opensearch_winnow.answers.display_text import width
from opensearch_winnow.cli.crawls.changes import table
from opensearch_winnow.foundation.answer_keys import columns_of
from opensearch_winnow.operations.crawls.changes import Change
from tests.cli.conftest import OnTerminal, Winnow
from tests.meaningless_text import sentences
from tests.operations.crawls.test_extract import record

SITE = "http://example.org"
DAYS = {"spring": datetime(2024, 3, 1, tzinfo=UTC), "autumn": datetime(2024, 9, 1, tzinfo=UTC)}
ADDED = "Added on purpose, in a paragraph of its own"
CHANGED = sentences(80, 1), f"{sentences(80, 1)}\n\n{ADDED}."


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
    with Index.open(two_crawls) as index:
        assert answer == index.changes("spring", "autumn").to_dict()
    assert [(each["change"], each["url"], each["to_url"]) for each in answer["pages"]] == [
        ("moved", f"{SITE}/old/moved", f"{SITE}/new/moved"),
        ("not_seen", f"{SITE}/gone", None),
        ("new", f"{SITE}/=new", f"{SITE}/=new"),
        ("changed", f"{SITE}/changed", f"{SITE}/changed"),
        ("unchanged", f"{SITE}/same", f"{SITE}/same"),
    ]
    assert winnow.json("changes", "--store", two_crawls) == answer  # the two latest crawls
    dates = winnow.json("changes", "--from", "2024-03", "--to", "2024", "--store", two_crawls)
    assert dates == {**answer, "from": "2024-03", "to": "2024"}


def test_passages(winnow: Winnow, two_crawls: Path) -> None:
    moved, gone, new, changed, same = winnow.json("changes", "--store", two_crawls, "--passages")["pages"]
    (added,) = changed["added"]
    assert (changed["removed"], added["text"], CHANGED[1][added["start"] : added["end"]]) == ([], ADDED, ADDED)
    assert (moved["removed"], moved["added"]) == ([], [])
    assert new["added"] is gone["removed"] is same["removed"] is None
    assert "have room for --passages" in winnow.refused("changes", "--store", two_crawls, "--passages")


def test_rows_in_a_pipe_and_csv(winnow: Winnow, two_crawls: Path) -> None:
    pages = winnow.json("changes", "--store", two_crawls)["pages"]
    head, *rows = winnow.rows("changes", "--store", two_crawls)
    assert head == [each.name for each in columns_of(Change)]
    assert [row[:3] for row in rows] == [[each["change"], each["url"], each["to_url"] or ""] for each in pages]
    comma = list(csv.DictReader(io.StringIO(winnow("changes", "--store", two_crawls, "--csv").stdout)))
    assert [row["to_id"] for row in comma] == [each["to_id"] or "" for each in pages]
    assert winnow("changes", "--store", two_crawls, "--csv", "--json").exit_code == 2


def test_some_of_the_pages(winnow: Winnow, two_crawls: Path) -> None:
    def listed(*options: str, code: int = 0) -> list[str]:
        answer = winnow.json("changes", "--store", two_crawls, *options, code=code)
        return [each["change"] for each in answer["pages"]]

    assert listed("--change", "moved", "--change", "new") == listed("--change", "moved,new") == ["moved", "new"]
    assert listed("--change", "split", code=1) == []
    assert listed("--near-revisits") == ["unchanged"]
    assert listed("--near-revisits", "--min-resemblance", "80%") == ["changed", "unchanged"]
    limited = winnow("changes", "--store", two_crawls, "--limit", "1")
    assert limited.stderr == ""  # there is one page of each kind
    cdxj = winnow("changes", "--near-revisits", "--cdxj", "--store", two_crawls)
    assert (cdxj.exit_code, cdxj.stdout, "not from a web archive" in cdxj.stderr) == (0, "", True)


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
    key, time, entry = done.stdout.removesuffix("\n").split(" ", 2)
    assert later is not None
    assert (key, time) == ("org,example)/same", f"{later:%Y%m%d%H%M%S}")
    assert json.loads(entry) == json.loads(entry) | {"url": f"{SITE}/same", "filename": "autumn.warc", "offset": "0"}


def test_pages_without_a_text_may_have_changed(winnow: Winnow, tmp_path: Path) -> None:
    store, url = tmp_path / "crawls.winnow", f"{SITE}/revisited"
    with Index.open(store) as index:
        for crawl, payload in zip(DAYS, ("sha1:A", "sha1:B"), strict=True):
            revisit = Page(url, revisit_of=url, payload_digest=payload, fetched_at=DAYS[crawl])
            index.add([revisit], crawl=crawl)
        changes = index.changes()
    assert (changes.counts["changed"], changes.without_text) == (1, 1)
    assert changes_summary(changes) == "1 of 1 page changed or may have changed (1 has no text to compare)"
    lines = ["".join(text for text, _ in line) for line in table(changes, 80)]
    assert lines[1] == "changed         1  (1 has no text to compare)"
    assert lines[-1] == f"{url} (no text to compare)"
    done = winnow("changes", "--store", store, "--csv")
    assert (done.exit_code, "1 has no text to compare and may be unchanged" in done.stderr) == (0, True)


def test_nothing_changed(winnow: Winnow, tmp_path: Path) -> None:
    with Index.open(tmp_path / "same.winnow") as index:
        for crawl, day in DAYS.items():
            index.add([Page(SITE, text=sentences(60), fetched_at=day)], crawl=crawl)
    done = winnow("changes", "--store", tmp_path / "same.winnow", "--json")
    assert (done.exit_code, done.stderr) == (1, "No page changed\n")
    assert json.loads(done.stdout)["counts"]["unchanged"] == 1


def test_table_on_a_terminal(on_terminal: OnTerminal, two_crawls: Path) -> None:
    options = ("--passages", "--quiet")
    code, shown = on_terminal("winnow", "changes", "--store", two_crawls, *options, NO_COLOR="1", COLUMNS="70")
    lines = shown.splitlines()
    assert (code, [line.split()[-1] for line in lines[:7]]) == (0, ["1", "1", "1", "0", "0", "1", "1"])
    assert lines[8:11] == [
        "moved: 1 page",
        "100 % ██████████  http://example.org/old/moved",
        "                  → http://example.org/new/moved",
    ]
    assert lines[-4:-1] == [
        " 89 % ████████▉   http://example.org/changed",
        f"                  + {ADDED}",
        "1 of 4 pages changed, 1 moved, 1 not seen again, 1 is new: from spring to autumn",
    ]
    with Index.open(two_crawls) as index:
        ids = [index.page(f"{SITE}/{name}").id for name in ("old/moved", "new/moved")]
    assert lines[-1].startswith(f"→ winnow compare {' '.join(ids)}")
    assert all(width(line) <= 70 for line in lines[:-2])  # sentences are not cut


@pytest.mark.check
def test_a_terminal_shows_some_pages_of_each_kind(on_terminal: OnTerminal, tmp_path: Path) -> None:
    folder = f"{SITE}/{'very/' * 8}deep"
    with Index.open(tmp_path / "crawl.winnow") as index:
        for crawl, day in DAYS.items():
            texts = {f"{folder}/{each}": sentences(30, 100 * day.month + each) for each in range(25)}
            index.add([Page(url, text=text, fetched_at=day) for url, text in texts.items()], crawl=crawl)
    words = "winnow", "changes", "--store", tmp_path / "crawl.winnow", "--quiet"
    _, shown = on_terminal(*words, NO_COLOR="1", COLUMNS="60")
    assert f"changed: 20 of 25 pages, … is {folder}" in shown
    assert "showing at most 20 pages of each kind; --limit shows more" in shown
    _, shown = on_terminal(*words, "--limit", "30", "--full", NO_COLOR="1", COLUMNS="60")
    assert "changed: 25 pages\n" in shown
    assert f"{folder}/24" in shown


def test_what_cannot_be_compared_is_refused(winnow: Winnow, two_crawls: Path, tmp_path: Path) -> None:
    def refused(*options: str, store: Path = two_crawls) -> str:
        return winnow.refused("changes", "--store", store, *options)

    assert f"there is no crawl 'winter': {two_crawls} has the crawls" in refused("--from", "winter", "--to", "autumn")
    assert "not one of each: there is no crawl '2024-09'" in refused("--from", "spring", "--to", "2024-09")
    assert "crawl 'autumn' is later than 'spring'" in refused("--from", "autumn", "--to", "spring")
    assert "of the site www.example.org; there is example.org" in refused("--site", "www.example.org")
    assert refused("--site", "example.net").endswith("has no page of the site example.net")
    assert "cannot be compared with itself" in refused("--from", "spring", "--to", "spring")
    assert "give both crawls, from and to" in refused("--from", "spring")
    assert "known to be from 2023-12-31 or before" in refused("--from", "2023", "--to", "2024")
    with Index.open(tmp_path / "one.winnow") as index:
        index.add([Page(SITE, text=sentences(60))], crawl="only")
    assert "has only one crawl, 'only'" in refused(store=tmp_path / "one.winnow")
