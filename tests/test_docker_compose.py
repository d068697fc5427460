"""docker-compose.yml is valid, and starts one node or three, and winnow, all reachable from this machine only."""

from __future__ import annotations

import subprocess
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from ruamel.yaml import YAML

from opensearch_winnow.stores.engine.releases import DEFAULT
from opensearch_winnow.web.server_options import PORT
from tests.schema_complaints import schema_complaints

SCHEMA = "vendor.compose-spec"
THREE = ("opensearch-1", "opensearch-2", "opensearch-3")


@pytest.fixture(scope="module")
def compose(root: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = YAML(typ="safe").load(root / "docker-compose.yml")
    return loaded


@pytest.mark.check
def test_it_is_valid_and_the_validator_finds_faults(root: Path, tmp_path: Path) -> None:
    assert schema_complaints(SCHEMA, root / "docker-compose.yml") == ""
    broken = tmp_path / "docker-compose.yml"
    broken.write_text((root / "docker-compose.yml").read_text().replace("profiles: [three]", "profile: three", 1))
    assert "'profile' was unexpected" in schema_complaints(SCHEMA, broken)


def test_one_node_unless_more_are_wanted(compose: dict[str, Any]) -> None:
    profiles = {name: service.get("profiles") for name, service in compose["services"].items()}
    assert profiles == {"opensearch": None} | {name: ["three"] for name in THREE} | {"winnow": ["winnow"]}
    assert compose["services"]["opensearch"]["environment"]["discovery.type"] == "single-node"


def test_three_nodes_know_each_other(compose: dict[str, Any]) -> None:
    for name in THREE:
        environment = compose["services"][name]["environment"]
        assert environment["node.name"] == name
        for setting in ("discovery.seed_hosts", "cluster.initial_cluster_manager_nodes"):
            assert environment[setting].split(",") == list(THREE)


def test_every_node_has_the_tested_version_and_is_reachable_from_this_machine_only(compose: dict[str, Any]) -> None:
    services = [service for name, service in compose["services"].items() if name != "winnow"]
    for service in services:
        assert service["image"] == f"${{OPENSEARCH_IMAGE:-opensearchproject/opensearch:{DEFAULT}}}"
        assert service["environment"]["DISABLE_SECURITY_PLUGIN"] == "true"
        assert service["healthcheck"]["test"][:2] == ["CMD", "curl"]
        assert service["ulimits"].keys() == {"memlock", "nofile"}
    ports = [port for service in services for port in service["ports"]]
    assert ports == [f"127.0.0.1:{port}:9200" for port in range(9200, 9204)]
    volumes = [volume.partition(":")[0] for service in services for volume in service["volumes"]]
    assert [*volumes, "winnow"] == list(compose["volumes"])


def test_winnow_waits_for_the_single_node_and_is_reachable_from_this_machine_only(compose: dict[str, Any]) -> None:
    winnow = compose["services"]["winnow"]
    assert winnow["build"] == "."
    assert winnow["depends_on"] == {"opensearch": {"condition": "service_healthy"}}
    store = "http://opensearch:9200/pages"
    assert winnow["environment"] == {"WINNOW_STORE": store, "TMPDIR": "/data", "WINNOW_TOKEN": None}
    assert winnow["ports"] == [f"127.0.0.1:{PORT}:{PORT}"]
    assert winnow["volumes"] == ["winnow:/data"]


def test_no_service_has_more_rights_than_it_needs(compose: dict[str, Any]) -> None:
    for service in compose["services"].values():
        assert service["cap_drop"] == ["ALL"]
        assert service["security_opt"] == ["no-new-privileges:true"]
        assert not service.keys() & {"privileged", "cap_add", "network_mode", "pid"}
    winnow = compose["services"]["winnow"]
    assert (winnow["read_only"], winnow["tmpfs"]) == (True, ["/tmp"])


def test_winnow_is_healthy_while_something_answers(compose: dict[str, Any]) -> None:
    """A 401, which says that a token is needed, counts as an answer."""
    command, python, option, code = compose["services"]["winnow"]["healthcheck"]["test"]
    assert (command, python, option) == ("CMD", "python", "-c")

    class NeedsToken(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_error(401)

        def log_message(self, *_arguments: object) -> None: ...

    with HTTPServer(("localhost", 0), NeedsToken) as server:
        code = code.replace(str(PORT), str(server.server_port))
        answering = Thread(target=server.handle_request)
        answering.start()
        assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
        answering.join()
    assert subprocess.run([sys.executable, "-c", code], stderr=subprocess.DEVNULL, check=False).returncode == 1
