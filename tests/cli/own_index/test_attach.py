"""winnow attach and winnow detach, as the owner of an index sees them."""

from __future__ import annotations

import json
import os
import re
import signal
import time
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from subprocess import Popen
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.own_index.attach_reports import Detached
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from opensearch_winnow.stores.opensearch.upkeep.setup import NO_SEARCH_PIPELINES
from tests.cli.conftest import Winnow, started, wait_until
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway
from tests.stores.opensearch.own_articles import OwnIndex, article

NUMBERS = count()


@pytest.fixture(scope="module")
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        yield made


@pytest.fixture
def articles(engine: Running, client: OpenSearch) -> Iterator[OwnIndex]:
    """Eight articles, of which 0, 1 and 2 are copies with small changes."""
    own = OwnIndex(engine.url, f"cli-own-{os.getpid()}-{next(NUMBERS)}", client)
    own.create(shards=1)
    own.write((str(number), article(number)) for number in range(8))
    yield own
    client.indices.delete(index=f"{own.name},winnow.{own.name}.settings", params={"ignore_unavailable": "true"})


def meta(articles: OwnIndex) -> dict[str, Any]:
    """Return what the mapping of the index has in its _meta."""
    mapping = articles.client.indices.get_mapping(index=articles.name)[articles.name]["mappings"]
    return dict(mapping["_meta"])


@pytest.mark.check
def test_the_whole_journey(winnow: Winnow, articles: OwnIndex) -> None:
    store, before = str(articles.address), articles.sources()
    assert "`winnow attach` makes it one" in winnow("similar", "0", "--store", store).stderr
    made = winnow("attach", store, "--text", "body", "--title", "headline")
    assert made.exit_code == 0
    assert made.stdout.startswith("8 documents: 8 fingerprinted, 0 unchanged, 0 without text, 0 failed, in ")
    assert f"{store}: 8 documents; text: body, title: headline, address: _id." in made.stderr
    assert (NO_SEARCH_PIPELINES in made.stderr) != engine_of(articles.client).search_pipelines

    assert [match["url"] for match in winnow.json("similar", "0", "--store", store)["matches"]] == ["1", "2"]
    assert winnow.json("cluster", "--store", store)["clustered_pages"] == 3
    grouped = winnow.json("search", "article", "--store", store, "--group")
    assert (grouped["total"], grouped["groups"]) == (8, 6)
    assert winnow.json("compare", "0", "1", "--store", store)["resemblance"] > 0.9
    assert winnow("watch", "add", "story", "0", "--store", store).exit_code == 0

    articles.change("1", body="It has changed.")
    articles.write([("8", article(0))])
    assert winnow.json("stats", "--store", store)["stale"] == 2
    planned = winnow("attach", store, "--update", "--dry-run")
    assert (planned.stdout, "up to 2 get new fields" in planned.stderr) == ("", True)
    updated = winnow.json("attach", store, "--update")
    assert (updated["store"], updated["refused"], updated["made"], updated["new_indices"]) == (store, {}, [], None)
    counts = {"documents": 9, "done": 2, "unchanged": 7, "addresses": 9}
    counts |= dict.fromkeys(("prepared", "no_text", "failed", "times_unread"), 0)
    assert {name: updated[name] for name in counts} == counts
    assert "No document needs new fields." in winnow("attach", store, "--dry-run").stderr
    assert '"url": "8"' in winnow("watch", "check", "story", "--store", store, "--json").stdout
    assert winnow.json("stats", "--store", store)["stale"] == 0

    assert winnow("detach", store).stdout.startswith("Removed winnow's fields from 9 documents.\n")
    before["1"]["body"] = "It has changed."
    assert articles.sources() == before | {"8": article(0)}
    winnow.refused("detach", store)


def test_a_dry_run_prints_the_requests_and_changes_nothing(winnow: Winnow, articles: OwnIndex) -> None:
    store = str(articles.address)
    before = articles.client.indices.get(index=articles.name), articles.sources()
    shown = winnow("attach", store, "--text", "body", "--dry-run")
    assert f"# fields of {articles.name}\nPUT /{articles.name}/_mapping\n{{\n" in shown.stdout
    assert f"# index winnow.{articles.name}.settings\nPUT /winnow.{articles.name}.settings\n" in shown.stdout
    assert "8 documents; text: body, address: _id." in shown.stderr
    steps = winnow.json("attach", store, "--text", "body", "--dry-run")["steps"]
    (planned,) = (step["body"]["_meta"] for step in steps if step["path"].endswith("_mapping"))
    assert (planned["owner"], planned["winnow"]["fields"]) == ("the newsroom", {"text": ["body"], "below": "winnow"})
    assert (articles.client.indices.get(index=articles.name), articles.sources()) == before


@pytest.mark.check
def test_an_alias_is_told_of_templates(winnow: Winnow, articles: OwnIndex) -> None:
    client, alias = articles.client, f"{articles.name}-alias"
    client.indices.put_alias(index=articles.name, name=alias)
    store, chosen = str(articles.address).replace(articles.name, alias), ["--text", "body", "--title", "headline"]
    part = json.loads(winnow("attach", store, *chosen, "--print-template").stdout)
    planned = winnow("attach", store, *chosen, "--template", "--pattern", f"{articles.name}*", "--dry-run")
    assert f"# template winnow.{alias}\nPUT /_template/winnow.{alias}\n{{\n" in planned.stdout
    told = f"New indices of {alias} are attached by winnow gateway or the next winnow attach --update"
    try:
        first = winnow("attach", store, *chosen)
        assert told in first.stderr
        assert f"made\tindex winnow.{alias}.settings\n" in first.stdout
        assert told not in winnow("attach", store, "--update").stderr
        named = winnow("attach", store, "--update", "--template")
        series = articles.name.rstrip("0123456789")
        zero = "0" * articles.name.startswith(f"{series}0")  # as of news-000001
        assert (named.exit_code, f"--pattern '{series}{zero}*'" in named.stderr) == (2, True)
        made = winnow("attach", store, "--template", "--pattern", f"{articles.name}*", "--json")
        assert f"that fits {articles.name}* will be attached as a part of {alias}" in made.stderr
        report = json.loads(made.stdout)
        assert report["made"] == [f"template winnow.{alias}"]
        assert report["new_indices"] == {"patterns": [f"{articles.name}*"], "after": articles.name}
        (template,) = client.indices.get_template(name=f"winnow.{alias}").values()
        assert template["mappings"] == part["template"]["mappings"]
        assert told not in winnow("attach", store, *chosen).stderr
        assert json.loads(winnow("attach", store, "--print-template").stdout) == part
    finally:
        gone = winnow("detach", store)
    assert f"removed\ttemplate winnow.{alias}\n" in gone.stdout


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "--text body"),
        (["--text", "body", "--pattern", "cli-*"], "pattern needs template"),
        (["--text", "body", "--template"], "is an index by itself: --template is for an alias or a data stream"),
        (["--title", "headline"], "need text"),
        (["--text", "published"], "its field published has the type date; it has author, body, headline"),
        (["--text", "body", "--time", "author"], "its field author has the type keyword; it has published"),
        (["--update"], "is not attached, or not any more: name the field that holds the text"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    winnow: Winnow, articles: OwnIndex, arguments: list[str], complaint: str
) -> None:
    assert complaint in winnow.refused("attach", str(articles.address), *arguments)
    assert "winnow" not in meta(articles)


def test_a_file_is_no_index(winnow: Winnow) -> None:
    for command in (["attach", "crawl.winnow", "--text", "body"], ["detach", "crawl.winnow"]):
        assert "crawl.winnow is not an address" in winnow.refused(*command)


def test_a_user_without_permission_changes_nothing(winnow: Winnow, articles: OwnIndex, engine: Running) -> None:
    error = {"type": "security_exception", "reason": "no permissions for [indices:admin/mapping/put] and User [ada]"}

    def no_writing(arrived: Arrived) -> Answer | None:
        writes = arrived.method in ("PUT", "DELETE") or "_bulk" in arrived.path
        return Answer(403, json.dumps({"error": error, "status": 403}).encode()) if writes else None

    with Gateway(engine.url, no_writing) as gateway:
        refused = winnow("attach", f"{gateway.url}/{articles.name}", "--text", "body")
    assert refused.exit_code == 2
    assert re.search(r"Error: .*administrator.*\n\Z", refused.stderr)
    assert "winnow" not in meta(articles)


def hear(word: bytes, run: Popen[bytes]) -> None:
    """Wait until a running command says a word."""
    assert run.stderr is not None
    while word not in (line := run.stderr.readline()):
        assert line


@pytest.mark.check
def test_following_mends_what_changes_until_it_is_stopped(articles: OwnIndex, tmp_path: Path) -> None:
    follow = ("--follow", "--every", "1")
    with started(tmp_path, "attach", str(articles.address), "--text", "body", *follow) as following:
        try:
            hear(b"8 fingerprinted", following)
            articles.write([("8", article(0))])
            hear(b"1 fingerprinted", following)
        finally:
            following.send_signal(signal.SIGINT)
        _, rest = following.communicate(timeout=30)
    assert (following.returncode, b"Stopped. What is done stays" in rest) == (130, True)
    assert all("winnow" in source for source in articles.sources().values())


@pytest.mark.check
def test_ctrl_c_stops_a_throttled_run_and_the_next_one_continues(
    winnow: Winnow, articles: OwnIndex, tmp_path: Path
) -> None:
    articles.write((str(number), article(number)) for number in range(400))
    store = str(articles.address)
    with started(tmp_path, "attach", store, "--text", "body", "--per-second", "100") as stopped:
        wait_until(lambda: "winnow" in meta(articles), stopped)
        time.sleep(1.5)
        stopped.send_signal(signal.SIGINT)
        stopped.communicate(timeout=30)
    assert stopped.returncode == 130
    report = winnow.json("attach", store, "--update")
    assert report["documents"] == report["done"] + report["unchanged"] == 400
    assert min(report["done"], report["unchanged"]) > 0  # what is allowed in a second is written every second


@pytest.mark.check
def test_detach_waits_for_no_run_that_lives_and_takes_over_from_one_that_was_killed(
    winnow: Winnow, articles: OwnIndex, tmp_path: Path
) -> None:
    store, settings = str(articles.address), f"winnow.{articles.name}.settings"
    articles.write((str(number), article(number)) for number in range(400))
    before = articles.sources()
    with started(tmp_path, "attach", store, "--text", "body", "--per-second", "20", "--quiet") as run:
        try:
            wait_until(lambda: any("winnow" in source for source in articles.sources().values()), run)
            refused = winnow.refused("detach", store)
        finally:
            run.kill()
    assert f"winnow attach of {articles.name} (process {run.pid} on " in refused
    assert "stop it first" in refused
    assert winnow("detach", store).exit_code == 0
    assert (articles.sources(), bool(articles.client.indices.exists(index=settings))) == (before, False)


@pytest.mark.check
def test_a_follower_ends_when_its_index_is_detached(winnow: Winnow, articles: OwnIndex, tmp_path: Path) -> None:
    store = str(articles.address)
    with started(tmp_path, "attach", store, "--text", "body", "--follow", "--every", "2") as following:
        try:
            hear(b"8 fingerprinted", following)
            assert winnow("detach", store).exit_code == 0  # it waits until the follower pauses
            _, rest = following.communicate(timeout=60)
        finally:
            following.kill()
    assert (following.returncode, f"winnow was detached from {store}" in rest.decode()) == (2, True)
    assert not any("winnow" in source for source in articles.sources().values())


def test_a_program_that_goes_on_writing_fields_is_reported(winnow: Winnow, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {"script one": ["b"], "script two": ["b", "c", "d", "e"], "script three": ["b", "c", "d", "e"]}
    done = Detached("a", 7, ["index winnow.a.settings"], kept, ["templates, which this user may not read"], 2)
    monkeypatch.setattr("opensearch_winnow.cli.own_index.detach.detach", lambda *_, **__: done)
    for options in ([], ["--json"]):
        told = winnow("detach", "http://localhost:9200/a", *options)
        assert (told.exit_code, "templates, which this user may not read" in told.stdout) == (1, True)
        assert "2 documents got winnow's fields again meanwhile" in told.stderr
    lines = winnow("detach", "http://localhost:9200/a").stdout.splitlines()
    assert "kept\tscript one, until b is detached" in lines
    assert "kept\tscript two, script three, until b, c, d and 1 more are detached" in lines
