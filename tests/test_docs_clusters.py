"""Runs the commands and queries of docs/clusters.md."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.engine.running import Running

ROOT = Path(__file__).resolve().parent.parent
PAGE = (ROOT / "docs" / "clusters.md").read_text(encoding="utf-8")
WINNOW = str(Path(sys.executable).with_name("winnow"))


def blocks(kind: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    return [block for each, block in found if each == kind]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    program, *arguments = shlex.split(command)
    assert program == "winnow"
    return subprocess.run([WINNOW, *arguments], cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the example crawl in a store, and more pages beside it."""
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "docs" / "examples")
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "more")
    done = run("winnow index docs/examples --store crawl.winnow --base-url https://example.org/", tmp_path)
    assert done.returncode == 0
    return tmp_path


@pytest.mark.check
def test_commands_run(folder: Path, engine: Running) -> None:
    address = f"{engine.url}/docs-clusters"
    assert run(f"winnow index docs/examples --store {address}", folder).returncode == 0
    commands = [line for block in blocks("") for line in block.splitlines() if "--engine spark" not in line]
    assert len(commands) > 5
    for command in commands:
        done = run(command.replace("http://localhost:9200/pages", address), folder)
        assert done.returncode == 0, f"{command}\n{done.stderr}"
    with Index.open(folder / "crawl.winnow") as index:
        assert index.store.count() == 6
        assert len({record.cluster for record in index.store.scan(Record)}) == 2


@pytest.mark.check
def test_queries_run(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    done = run("winnow cluster --store crawl.winnow --output clusters.parquet --evidence edges.parquet", folder)
    assert done.returncode == 0, done.stderr
    (queries,) = blocks("sql")
    largest, why = (duckdb.execute(query).fetchall() for query in queries.split(";")[:2])
    miller, mirror = "https://example.org/miller.txt", "https://example.org/mirror.html"
    assert largest == [(miller, 2, 1.0)]
    assert why == [(miller, mirror, 1.0, "text")]
