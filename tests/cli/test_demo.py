"""winnow demo. The texts are those of the running Python, so no number of theirs is pinned."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from pydoc_data.topics import topics

import pytest
from click.testing import Result

from opensearch_winnow import compare

# As tests/cli/conftest.py has it.
PATH = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

Winnow = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]


def test_json_is_true(winnow: Winnow, tmp_path: Path) -> None:
    done = winnow("demo", "--json", "--to", tmp_path)
    assert done.exit_code == 0
    said = json.loads(done.stdout)
    assert said["texts"] == len(topics)
    assert said["characters"] == sum(map(len, topics.values()))
    assert said["fingerprints"] > said["texts"]
    assert said["candidates"] == len(said["matches"]) > 0
    resemblances = [match["resemblance"] for match in said["matches"]]
    assert resemblances == sorted(resemblances, reverse=True)
    best = said["matches"][0]
    both = compare(topics[best["a"]], topics[best["b"]])
    assert (best["resemblance"], best["passages"]) == (both.resemblance, len(both.passages))
    for share in said["contained"]:
        assert share["containment"] == compare(topics[share["text"]], topics[share["in"]]).containment >= 0.5
    longest = said["longest"]
    assert longest["end"] - longest["start"] >= max(passage.end - passage.start for passage in both.passages)


def test_it_tells_what_was_found_in_words(winnow: Winnow, tmp_path: Path) -> None:
    told = winnow("demo", "--to", tmp_path).stdout
    assert f"{len(topics)} texts" in told
    for part in (
        "fingerprints",
        "Most alike",
        "Contained in another",
        "The longest shared passage",
        "[1] ",
        "Try next",
    ):
        assert part in told
    assert "\x1b" not in told


@pytest.mark.parametrize("options", [["--to", "made here"], []])
def test_the_commands_to_try_next_work_as_they_are(process: Process, tmp_path: Path, options: list[str]) -> None:
    for settings in ({}, {"PATH": os.defpath}):  # where the shell knows winnow, and where it does not
        told = process("demo", *options, TMPDIR=str(tmp_path), **settings).stdout.decode()
        lines = [line.strip() for line in told.partition("Try next")[2].splitlines() if line.strip()]
        assert len(lines) == 3
        assert all(line.startswith("winnow ") == (not settings) for line in lines)
        for line in lines:
            path = settings.get("PATH", PATH)
            subprocess.run(
                line, shell=True, env=os.environ | {"PATH": path}, cwd=tmp_path, check=True, capture_output=True
            )
    assert list(tmp_path.glob("*/compare.html"))


def test_a_folder_that_cannot_be_made(process: Process, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    done = process("demo", "--to", "file/folder")
    assert done.returncode == 2
    assert b"Not a directory: file/folder" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_python_without_the_texts() -> None:
    without = (
        "import sys; sys.modules['pydoc_data.topics'] = None; from opensearch_winnow.cli import main; main(['demo'])"
    )
    done = subprocess.run([sys.executable, "-c", without], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "has no pydoc_data" in done.stderr
