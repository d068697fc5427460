"""winnow attach and winnow detach, as the owner of an index sees them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
from click.testing import Result
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.client import engine_of
from opensearch_winnow.stores.opensearch.setup import NO_SEARCH_PIPELINES
from tests.cli.conftest import CLEAN, PATH, WINNOW
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway
from tests.stores.opensearch.own_index import OwnIndex, article

Winnow = Callable[..., Result]
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


@pytest.mark.check
def test_the_whole_journey(winnow: Winnow, articles: OwnIndex) -> None:
    store, before = str(articles.address), articles.sources()
    assert "`winnow attach` makes it one" in winnow("similar", "0", "--store", store).stderr
    made = winnow("attach", store, "--text", "body", "--title", "headline")
    assert made.exit_code == 0
    assert made.stdout.startswith("8 documents: 8 fingerprinted, 0 unchanged, 0 without text, 0 failed, in ")
    assert f"{store}: 8 documents; text: body, title: headline, address: _id." in made.stderr
    assert (NO_SEARCH_PIPELINES in made.stderr) != engine_of(articles.client).search_pipelines

    found = json.loads(winnow("similar", "0", "--store", store, "--json").stdout)
    assert [match["url"] for match in found["matches"]] == ["1", "2"]
    assert json.loads(winnow("cluster", "--store", store, "--json").stdout)["clustered_pages"] == 3
    grouped = json.loads(winnow("search", "article", "--store", store, "--group", "--json").stdout)
    assert (grouped["total"], grouped["groups"]) == (8, 6)
    assert json.loads(winnow("compare", "0", "1", "--store", store, "--json").stdout)["resemblance"] > 0.9
    assert winnow("watch", "add", "story", "0", "--store", store).exit_code == 0

    articles.change("1", body="It has changed.")
    articles.write([("8", article(0))])
    assert json.loads(winnow("stats", "--store", store, "--json").stdout)["stale"] == 2
    planned = winnow("attach", store, "--update", "--dry-run")
    assert (planned.stdout, "up to 2 get new fields" in planned.stderr) == ("", True)
    updated = json.loads(winnow("attach", store, "--update", "--json").stdout)
    del updated["seconds"]
    assert updated.pop("addresses") == 9
    assert updated == {
        "store": store,
        "documents": 9,
        "done": 2,
        "prepared": 0,
        "unchanged": 7,
        "no_text": 0,
        "failed": 0,
    }
    checked = winnow("watch", "check", "story", "--store", store, "--json")
    assert '"url": "8"' in checked.stdout
    assert json.loads(winnow("stats", "--store", store, "--json").stdout)["stale"] == 0

    gone = winnow("detach", store)
    assert gone.stdout.startswith("Removed winnow's fields from 9 documents.\n")
    before["1"]["body"] = "It has changed."
    assert articles.sources() == before | {"8": article(0)}
    assert winnow("detach", store).exit_code == 2


def test_a_dry_run_prints_the_requests_and_changes_nothing(winnow: Winnow, articles: OwnIndex) -> None:
    store = str(articles.address)
    before = articles.client.indices.get(index=articles.name), articles.sources()
    shown = winnow("attach", store, "--text", "body", "--dry-run")
    assert f"# fields of {articles.name}\nPUT /{articles.name}/_mapping\n{{\n" in shown.stdout
    assert f"# index winnow.{articles.name}.settings\nPUT /winnow.{articles.name}.settings\n" in shown.stdout
    assert "8 documents; text: body, address: _id." in shown.stderr
    machine = json.loads(winnow("attach", store, "--text", "body", "--dry-run", "--json").stdout)
    (mapping,) = (step["body"] for step in machine["steps"] if step["path"].endswith("_mapping"))
    assert mapping["_meta"]["owner"] == "the newsroom"
    assert mapping["_meta"]["winnow"]["fields"] == {"text": ["body"], "below": "winnow"}
    assert (articles.client.indices.get(index=articles.name), articles.sources()) == before


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([], "--text body"),
        (["--title", "headline"], "need --text"),
        (["--text", "words"], "it has no field words; it has author, body, headline"),
        (["--text", "published"], "its field published has the type date; it has author, body, headline"),
        (["--text", "body", "--time", "author"], "its field author has the type keyword; it has published"),
        (["--update"], "is not attached yet: name the field that holds the text"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    winnow: Winnow, articles: OwnIndex, arguments: list[str], complaint: str
) -> None:
    refused = winnow("attach", str(articles.address), *arguments)
    assert refused.exit_code == 2
    assert complaint in refused.stderr
    assert "winnow" not in articles.client.indices.get_mapping(index=articles.name)[articles.name]["mappings"]["_meta"]


def test_a_file_is_no_index(winnow: Winnow) -> None:
    for command in (["attach", "crawl.winnow", "--text", "body"], ["detach", "crawl.winnow"]):
        refused = winnow(*command)
        assert refused.exit_code == 2
        assert "crawl.winnow is not an address" in refused.stderr


def test_a_user_without_permission_changes_nothing(winnow: Winnow, articles: OwnIndex, engine: Running) -> None:
    error = {"type": "security_exception", "reason": "no permissions for [indices:admin/mapping/put] and User [ada]"}

    def no_writing(arrived: Arrived) -> Answer | None:
        writes = arrived.method in ("PUT", "DELETE") or "_bulk" in arrived.path
        return Answer(403, json.dumps({"error": error, "status": 403}).encode()) if writes else None

    with Gateway(engine.url, no_writing) as gateway:
        refused = winnow("attach", f"{gateway.url}/{articles.name}", "--text", "body")
    assert refused.exit_code == 2
    assert re.search(r"Error: .*administrator.*\n\Z", refused.stderr)
    assert "winnow" not in articles.client.indices.get_mapping(index=articles.name)[articles.name]["mappings"]["_meta"]


@pytest.mark.check
def test_following_mends_what_changes_until_it_is_stopped(articles: OwnIndex, tmp_path: Path) -> None:
    command: list[str | Path] = [WINNOW, "attach", str(articles.address), "--text", "body", "--follow", "--every", "1"]
    with subprocess.Popen(
        command, env=CLEAN | {"PATH": PATH}, cwd=tmp_path, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as following:
        try:
            assert following.stderr is not None
            while "8 fingerprinted" not in (line := following.stderr.readline()):
                assert line
            articles.write([("8", article(0))])
            while "1 fingerprinted" not in (line := following.stderr.readline()):
                assert line
        finally:
            following.send_signal(signal.SIGINT)
        _, rest = following.communicate(timeout=30)
    assert following.returncode == 130
    assert "Stopped. What is done stays" in rest
    assert all("winnow" in source for source in articles.sources().values())


@pytest.mark.check
def test_ctrl_c_stops_a_throttled_run_and_the_next_one_continues(
    winnow: Winnow, articles: OwnIndex, tmp_path: Path
) -> None:
    articles.write((str(number), article(number)) for number in range(400))
    store = str(articles.address)
    command: list[str | Path] = [WINNOW, "attach", store, "--text", "body", "--per-second", "100"]
    with subprocess.Popen(command, env=CLEAN | {"PATH": PATH}, cwd=tmp_path, stderr=subprocess.PIPE) as stopped:
        deadline = time.monotonic() + 60
        while (
            "winnow" not in articles.client.indices.get_mapping(index=articles.name)[articles.name]["mappings"]["_meta"]
        ):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        time.sleep(1.5)
        stopped.send_signal(signal.SIGINT)
        stopped.communicate(timeout=30)
    assert stopped.returncode == 130
    report = json.loads(winnow("attach", store, "--update", "--json").stdout)
    assert report["documents"] == report["done"] + report["unchanged"] == 400
    assert report["done"] > 0
    assert report["unchanged"] > 0  # what is allowed in a second is written every second
