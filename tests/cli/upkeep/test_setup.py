"""winnow setup, as a user and as an administrator see it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from opensearch_winnow.stores.opensearch.upkeep.setup import NO_SEARCH_PIPELINES
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway

Winnow = Callable[..., Result]
FORBIDDEN = {
    "error": {"type": "security_exception", "reason": "no permissions for [cluster:admin/ingest/pipeline/put]"},
    "status": 403,
}


def no_rights_on_the_cluster(arrived: Arrived) -> Answer | None:
    """Refuse changes to the whole cluster, as for a user without these permissions."""
    changes = arrived.method == "PUT" and arrived.path.startswith("/_")
    return Answer(403, json.dumps(FORBIDDEN).encode()) if changes else None


def test_setup_reports_what_it_created_and_what_existed(winnow: Winnow, engine: Running) -> None:
    store = f"{engine.url}/cli-made"
    first = winnow("setup", "--store", store, "--preset", "passages", "--shards", "2", "--replicas", "0")
    assert first.exit_code == 0
    assert "made\tindex cli-made-000001, alias cli-made\n" in first.stdout
    again = winnow("setup", "--store", store)
    assert again.stdout == first.stdout.replace("made\t", "there\t")
    with OpenSearch(engine.url) as client:
        whole = engine_of(client).search_pipelines
    assert again.stderr == ("Nothing is missing.\n" if whole else f"{NO_SEARCH_PIPELINES}\n")
    other = winnow("setup", "--store", store, "--preset", "pages", "--noise", "30")
    assert other.exit_code == 2
    assert "cli-made has records of scheme 20-40" in other.stderr
    with OpenSearch(engine.url) as client:
        settings = client.indices.get_settings(index="cli-made")["cli-made-000001"]["settings"]["index"]
    assert (settings["number_of_shards"], settings["number_of_replicas"]) == ("2", "0")


@pytest.mark.check
def test_a_store_with_a_key(winnow: Winnow, engine: Running, tmp_path: Path) -> None:
    (tmp_path / "key").write_text("open-sesame\n")
    (tmp_path / "wrong").write_text("open-barley\n")
    keyed = ("--key-file", tmp_path / "key")
    for name, more in (("cli-keyed", keyed), ("cli-plain", ())):
        assert winnow("setup", "--store", f"{engine.url}/{name}", *more).exit_code == 0
    with OpenSearch(engine.url) as client:
        mappings = client.indices.get_mapping(index="cli-keyed")["cli-keyed-000001"]["mappings"]
    assert (mappings["_meta"]["winnow"]["keyed"], mappings["_meta"]["winnow"]["scheme_id"]) == (
        True,
        Scheme(key="open-sesame").id,
    )
    store = ("--store", f"{engine.url}/cli-keyed")
    assert winnow("setup", *store, *keyed).exit_code == 0
    assert winnow("setup", *store).exit_code == 0  # nothing is missing, and no hash is made
    assert winnow("migrate", *store).exit_code == 0  # hashes are copied
    assert "wrong key for scheme" in winnow("setup", *store, "--key-file", tmp_path / "wrong").stderr
    assert "has a secret key: name the file" in winnow("setup", *store, "--noise", "50").stderr
    plain = winnow("setup", "--store", f"{engine.url}/cli-plain", *keyed)
    assert (plain.exit_code, plain.stdout) == (2, "")
    assert "has no key, but --key-file or WINNOW_KEY_FILE names one" in plain.stderr


def test_a_dry_run_prints_the_requests_and_changes_nothing(winnow: Winnow, engine: Running) -> None:
    shown = winnow("setup", "--store", f"{engine.url}/cli-dry", "--dry-run")
    assert "\n# index cli-dry-000001, alias cli-dry\nPUT /cli-dry-000001\n{\n" in shown.stdout
    machine = json.loads(winnow("setup", "--store", f"{engine.url}/cli-dry", "--dry-run", "--json").stdout)
    assert [(step["path"], step["outcome"]) for step in machine["steps"]][-3:] == [
        ("/_index_template/winnow-cli-dry", "missing"),
        ("/cli-dry.settings", "missing"),
        ("/cli-dry-000001", "missing"),
    ]
    assert machine["steps"][-1]["body"]["aliases"] == {"cli-dry": {}}
    with OpenSearch(engine.url) as client:
        assert not client.indices.exists(index="cli-dry")


@pytest.mark.check
def test_a_user_without_permission_is_referred_to_an_administrator(winnow: Winnow, engine: Running) -> None:
    with Gateway(engine.url, no_rights_on_the_cluster) as gate:
        address = gate.url
        refused = winnow("setup", "--store", f"{address}/cli-refused")
        assert refused.exit_code == 2
        assert "cli-refused cannot be set up: this user may not create the " in refused.stderr
        assert "--dry-run prints the requests for an administrator" in refused.stderr
        assert winnow("setup", "--store", f"{address}/cli-refused", "--dry-run").exit_code == 0
    with OpenSearch(engine.url) as client:
        assert not client.indices.exists(index="cli-refused-000001")


@pytest.mark.parametrize("command", ["setup", "migrate"])
def test_a_store_file_needs_neither_setup_nor_migration(winnow: Winnow, command: str) -> None:
    said = winnow(command, "--store", "crawl.winnow", "--json")
    assert said.exit_code == 0
    assert said.stderr.startswith("crawl.winnow is a file, which needs no ")
    assert json.loads(said.stdout)["store"] == "crawl.winnow"
