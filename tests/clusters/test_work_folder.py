"""The temporary folder of a clustering run, and what killed runs have left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.clusters.work_folder import full, work_folder

WORK = """
import sys
from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.clusters.work_folder import work_folder
with work_folder(RunSettings(work=sys.argv[1])) as folder:
    (folder / "large").write_bytes(bytes(100_000))
    print(folder, flush=True)
    sys.stdin.read()
"""


def started(work: Path) -> tuple[subprocess.Popen[str], Path]:
    """Start a run, and return it with its folder, which looks an hour old."""
    command = [sys.executable, "-c", WORK, str(work)]
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert run.stdout is not None
    folder = Path(run.stdout.readline().strip())
    hour_ago = folder.stat().st_mtime - 3_600
    os.utime(folder, (hour_ago, hour_ago))
    return run, folder


def test_folders_of_killed_runs_are_removed_and_others_are_not(tmp_path: Path) -> None:
    (running, theirs), (killed, left) = started(tmp_path), started(tmp_path)
    with killed:
        killed.send_signal(signal.SIGKILL)
    (young := tmp_path / ".winnow-clusters-young").mkdir()
    (other := tmp_path / ".others").mkdir()
    assert left.exists()
    with work_folder(RunSettings(work=str(tmp_path))) as folder:
        assert sorted(tmp_path.iterdir()) == sorted([theirs, young, other, folder])
        assert (theirs / "large").exists()
    running.communicate()
    assert sorted(tmp_path.iterdir()) == [other, young]


def test_a_full_disk_is_that_of_the_folder_that_was_chosen(tmp_path: Path) -> None:
    with work_folder(RunSettings(work=str(tmp_path))) as outer, work_folder(RunSettings(work=str(outer))) as inner:
        said = f"the disk of the work folder {tmp_path} is full: free some space, or name another with --work"
        assert str(full(inner)) == str(full(outer)) == said
