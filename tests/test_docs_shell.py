"""Runs the commands of the pages for people who do not write Python, with bash, curl and jq."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from opensearch_winnow.stores.engine.running import Running
from tests.web.served_fixture import serving_stateless

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
# A script, and what it prints if that is shown.
SCRIPT = re.compile(r"^```bash\n(.*?)^```$(?:\n\n```json\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)

TOOLS = ("bash", "curl", "jq")


def scripts(name: str) -> Iterator[tuple[str, str]]:
    yield from SCRIPT.findall((DOCS / name).read_text(encoding="utf-8"))


def run(script: str, folder: Path, addresses: Mapping[str, str]) -> str:
    """Run a script with other addresses, and return what it prints."""
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    assert not missing, f"the examples of the documentation need {' and '.join(missing)}: install it"
    for usual, address in addresses.items():
        script = script.replace(usual, address)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = ["bash", "-euo", "pipefail", "-c", script]
    done = subprocess.run(command, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, check=False)
    assert done.returncode == 0, f"{script}\n{done.stdout.decode()}\n{done.stderr.decode()}"
    return done.stdout.decode()


def values(printed: str) -> list[Any]:
    """Return the JSON values of a text, one after the other."""
    decoder, found, rest = json.JSONDecoder(), [], printed.strip()
    while rest:
        value, end = decoder.raw_decode(rest)
        found.append(value)
        rest = rest[end:].strip()
    return found


def check(name: str, folder: Path, addresses: Mapping[str, str]) -> int:
    """Run the scripts of a page one after the other, compare what they print, and return how many outputs are shown."""
    shown = 0
    for script, expected in scripts(name):
        printed = run(script, folder, addresses)
        assert '"error"' not in printed or '"error"' in expected, f"{script}\n{printed}"
        if expected:
            assert values(printed) == values(expected), f"{script}\n{printed}"
            shown += 1
    return shown


@pytest.mark.check
def test_recipes_for_curl(engine: Running, tmp_path: Path) -> None:
    # A name of its own: other tests share the engine.
    addresses = {"localhost:9200/articles": f"{engine.url.removeprefix('http://')}/docs-curl"}
    assert check("curl.md", tmp_path, addresses) > 8


def test_the_filter_before_bulk(engine: Running, tmp_path: Path) -> None:
    addresses = {"localhost:9200/notes": f"{engine.url.removeprefix('http://')}/docs-notes"}
    assert check("without-python.md", tmp_path, addresses) == 2


@pytest.mark.check
def test_requests_to_a_server_without_a_store(tmp_path: Path) -> None:
    with serving_stateless() as served:
        assert check("web.md", tmp_path, {"localhost:8765": served.address.removeprefix("http://")}) == 2
