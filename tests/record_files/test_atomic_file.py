"""A stop at any moment leaves the old file or the new one, and nothing else."""

from __future__ import annotations

import gc
from contextlib import ExitStack
from itertools import count
from pathlib import Path

import pytest

from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.record_files.answer_table import AnswerTable
from opensearch_winnow.record_files.atomic_file import AtomicFile, BeingWrittenError
from tests.interrupts import is_interrupted


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
        stopped = is_interrupted(write, moment, "opensearch_winnow.record_files", "contextlib")
        if len(list(tmp_path.iterdir())) > 1:  # the error may be part of a cycle, which the end of a process collects
            gc.collect()
        assert [path.name for path in tmp_path.iterdir()] == [target.name], moment
        assert target.read_bytes() in ((b"old", new) if stopped else (new,)), moment
        if not stopped:
            break
    assert moment > 50


def test_a_file_that_another_process_writes_is_left_alone(tmp_path: Path) -> None:
    first = AtomicFile(tmp_path / "file")
    with pytest.raises(BeingWrittenError):
        AtomicFile(tmp_path / "file")
    first.path.write_text("new")
    first.commit()
    assert (tmp_path / "file").read_text() == "new"


def test_a_target_that_is_no_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RecordsError, match="is not a regular file"):
        AtomicFile(tmp_path)
