"""A stop at any moment leaves the old file or the new one, and nothing else."""

from __future__ import annotations

import gc
import os
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from opensearch_winnow.foundation.atomic_file import AtomicFile, BeingWrittenError, check_output
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.record_files.answer_table import AnswerTable
from tests.interrupts import is_interrupted
from tests.refused import refused

WRITING = (
    "opensearch_winnow.foundation.atomic_file",
    "opensearch_winnow.foundation.packed",
    "opensearch_winnow.record_files",
)


@pytest.mark.check
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # of files that nobody could close
@pytest.mark.parametrize("ending", [".jsonl", ".parquet"])
def test_ctrl_c_at_any_moment(tmp_path: Path, ending: str) -> None:
    target = tmp_path / f"table{ending}"

    def write() -> None:
        with ExitStack() as opened:
            table = opened.enter_context(AnswerTable(target, {"id": str}, overwrite=True))
            table.add("a")

    write()
    new = target.read_bytes()
    for moment in count():
        target.write_text("old")
        stopped = is_interrupted(write, moment, *WRITING, "contextlib")
        if len(list(tmp_path.iterdir())) > 1:  # the error may be part of a cycle, which the end of a process collects
            gc.collect()
        assert [path.name for path in tmp_path.iterdir()] == [target.name], moment
        assert target.read_bytes() in ((b"old", new) if stopped else (new,)), moment
        if not stopped:
            break
    assert moment > 50


def test_a_file_that_another_process_writes_is_left_alone(tmp_path: Path) -> None:
    first = AtomicFile(tmp_path / "file")
    refused(BeingWrittenError, "", AtomicFile, tmp_path / "file")
    first.path.write_text("new")
    first.commit()
    assert (tmp_path / "file").read_text() == "new"


def test_a_target_that_is_no_file_is_refused(tmp_path: Path) -> None:
    refused(FileError, "is a folder", AtomicFile, tmp_path)
    os.mkfifo(tmp_path / "pipe")
    refused(FileError, "is not a regular file", AtomicFile, tmp_path / "pipe")


def test_an_output_is_refused_before_the_work(tmp_path: Path) -> None:
    target = tmp_path / "file"
    check_output(target, overwrite=False)
    target.write_text("old")
    check_output(target, overwrite=True)
    refused(FileError, r"file exists; .* --overwrite \(overwrite=True\)", check_output, target, overwrite=False)
    refused(FileError, "is a folder", check_output, tmp_path, overwrite=False)
    refused(FileError, "there is no folder .*no$", check_output, tmp_path / "no" / "file", overwrite=False)
