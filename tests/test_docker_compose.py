"""docker-compose.yml: valid by the compose specification, on this machine only, one node or three."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from opensearch_winnow.stores.engine.releases import DEFAULT

THREE = ("opensearch-1", "opensearch-2", "opensearch-3")


@pytest.fixture(scope="module")
def compose(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(root / "docker-compose.yml")
    return loaded


def complaints(file: Path) -> str:
    """Of a validator, with the schema of the compose specification."""
    command: list[str | Path] = [
        sys.executable,
        "-m",
        "check_jsonschema",
        "--builtin-schema",
        "vendor.compose-spec",
        file,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode else ""


def test_it_is_valid(root: Path) -> None:
    assert complaints(root / "docker-compose.yml") == ""


def test_the_validator_would_see(root: Path, tmp_path: Path) -> None:
    broken = tmp_path / "docker-compose.yml"
    broken.write_text((root / "docker-compose.yml").read_text().replace("profiles: [three]", "profile: three", 1))
    assert "'profile' was unexpected" in complaints(broken)


def test_one_node_unless_more_are_wanted(compose: dict[str, Any]) -> None:
    profiles = {name: service.get("profiles") for name, service in compose["services"].items()}
    assert profiles == {"opensearch": None} | {name: ["three"] for name in THREE}
    assert compose["services"]["opensearch"]["environment"]["discovery.type"] == "single-node"


def test_three_nodes_know_each_other(compose: dict[str, Any]) -> None:
    for name in THREE:
        environment = compose["services"][name]["environment"]
        assert environment["node.name"] == name
        for setting in ("discovery.seed_hosts", "cluster.initial_cluster_manager_nodes"):
            assert environment[setting].split(",") == list(THREE)


def test_every_node_is_of_the_version_that_is_tested_and_for_this_machine_only(compose: dict[str, Any]) -> None:
    services = compose["services"].values()
    for service in services:
        assert service["image"] == f"opensearchproject/opensearch:{DEFAULT}"
        assert service["environment"]["DISABLE_SECURITY_PLUGIN"] == "true"
        assert service["healthcheck"]["test"][:2] == ["CMD", "curl"]
        assert service["ulimits"].keys() == {"memlock", "nofile"}
    ports = [port for service in services for port in service["ports"]]
    assert ports == [f"127.0.0.1:{port}:9200" for port in range(9200, 9204)]
    volumes = [volume.partition(":")[0] for service in services for volume in service["volumes"]]
    assert volumes == list(compose["volumes"])
