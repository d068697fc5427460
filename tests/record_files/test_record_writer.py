"""Writing record files: no earlier record is lost, and no incomplete file is visible."""

from __future__ import annotations

import os
import pickle
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record, RecordsError, StoredDigests
from opensearch_winnow.record_files import atomic_parquet, record_writer
from opensearch_winnow.record_files.reader import read_columns
from opensearch_winnow.record_files.record_writer import RecordFileWriter
from opensearch_winnow.record_files.records import read_records
from tests.interrupts import interrupting

Make = Callable[..., Record]
# With these limits, each record is converted to columns at once, two make a row group, and three make a part.
SMALL_LIMITS = {"MAX_WAITING_BYTES": 1_000, "MAX_PART_BYTES": 5_500}


def write(path: Path | str, *records: Record, scheme: Scheme = Scheme()) -> None:
    with RecordFileWriter(path, scheme) as writer:
        for record in records:
            writer.add(record)


def hidden(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob(".*")]


@pytest.fixture(params=["records.parquet", "records/"])
def path(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A file that is not there yet, and a folder."""
    return f"{tmp_path}/{request.param}"


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, size in SMALL_LIMITS.items():
        monkeypatch.setattr(record_writer, name, size)
    monkeypatch.setattr(atomic_parquet, "ROW_GROUP_BYTES", 3_000)


def test_a_second_run_adds_records_or_replaces_those_with_their_ids(tmp_path: Path, path: str, record: Make) -> None:
    write(path, record(1), record(2))
    write(path, record(3))
    assert list(read_records(path)) == [record(1), record(2), record(3)]
    write(path, record(1, text="newer"))
    left = [record(2), record(3), record(1, text="newer")]
    assert list(read_records(path)) == left
    assert [url for (url,) in read_columns(path, "url")] == [each.url for each in left]
    assert hidden(tmp_path) == []


def test_a_writer_reads_the_stored_digests(path: str, record: Make) -> None:
    with RecordFileWriter(path, Scheme()) as writer:
        assert list(writer.stored()) == []
        writer.add(record(1))
    with RecordFileWriter(path, Scheme()) as writer:
        assert list(writer.stored()) == [StoredDigests.of(record(1))]


@pytest.mark.check
@pytest.mark.usefixtures("small_limits")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=25)
@given(runs=st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=4))
def test_after_any_runs_each_capture_is_stored_once_in_its_latest_version(
    runs: list[list[int]], tmp_path: Path, path: str, record: Make
) -> None:
    expected: dict[str, Record] = {}
    with TemporaryDirectory() as folder:
        path = path.replace(str(tmp_path), folder)
        for run, numbers in enumerate(runs):
            records = [record(number, crawl=f"{run} {place}") for place, number in enumerate(numbers)]
            write(path, *records)
            for each in records:
                expected.pop(each.id, None)
                expected[each.id] = each
            assert sorted(id_ for (id_,) in read_columns(path, "id")) == sorted(expected)
            assert list(read_records(path)) == list(expected.values())
        assert hidden(Path(folder)) == []


def test_a_file_without_records_has_the_scheme(path: str, record: Make) -> None:
    write(path)
    assert list(read_records(path, Scheme())) == []
    write(path, record(1))
    write(path)
    assert list(read_records(path)) == [record(1)]
    other = Scheme(noise=20, key="secret")
    with pytest.raises(RecordsError, match=f"has records of scheme {Scheme().id}, not {other.id}"):
        RecordFileWriter(path, other)
    write(path)  # the refused writer holds no lock


def test_other_files_are_never_overwritten(tmp_path: Path, record: Make) -> None:
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "other.parquet")
    (tmp_path / "notes.parquet").write_text("my notes")
    (tmp_path / "empty.parquet").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "photo.jpg").touch()
    (tmp_path / "mixed").mkdir()
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "mixed" / "other.parquet")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*")}
    for name in ("other.parquet", "notes.parquet", "empty.parquet", "folder", "mixed", "notes.parquet/"):
        with pytest.raises((FileError, RecordsError), match=name.rstrip("/")):
            write(f"{tmp_path}/{name}", record(1))
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.*")} == before


def test_a_path_that_cannot_be_written_is_reported(tmp_path: Path, record: Make) -> None:
    with pytest.raises(FileError, match=r"r.parquet cannot be written: No such file or directory"):
        write(tmp_path / "gone" / "r.parquet", record(1))
    with pytest.raises(FileError, match="not UTF-8"):
        write(tmp_path / "caf\udce9.parquet", record(1))
    assert hidden(tmp_path) == []


def test_a_second_writer_is_refused_while_the_first_is_at_work(path: str, record: Make) -> None:
    with RecordFileWriter(path, Scheme()) as first:
        first.add(record(1))
        with pytest.raises(FileError, match="is being written by another process"):
            RecordFileWriter(path, Scheme())
    write(path, record(2))
    assert list(read_records(path)) == [record(1), record(2)]


def test_an_exception_keeps_the_earlier_records(tmp_path: Path, path: str, record: Make) -> None:
    write(path, record(1))
    writer = RecordFileWriter(path, Scheme())
    writer.add(record(2))
    with pytest.raises(ZeroDivisionError), writer:
        raise ZeroDivisionError
    assert list(read_records(path)) == [record(1)]
    assert hidden(tmp_path) == []
    with pytest.raises(ValueError, match="closed"):
        writer.add(record(3))


@pytest.mark.check
@pytest.mark.usefixtures("small_limits")
@pytest.mark.parametrize("stride", [81, pytest.param(17, marks=pytest.mark.check)])
def test_ctrl_c_at_any_moment_keeps_what_was_added(tmp_path: Path, path: str, record: Make, stride: int) -> None:
    """Ctrl-C arrives in this package, or in Arrow's Python, while records are added."""
    old = [record(0), record(1)]
    new = [record(number, crawl="new") for number in range(1, 5)]
    before, now = tmp_path / "before", tmp_path / "now"
    before.mkdir()
    write(path.replace(str(tmp_path), str(before)), *old)
    path = path.replace(str(tmp_path), str(now))
    for moment in count(1, stride):
        shutil.rmtree(now, ignore_errors=True)
        shutil.copytree(before, now)
        added = 0
        try:
            with RecordFileWriter(path, Scheme()) as writer, interrupting(moment, "opensearch_winnow", "pyarrow"):
                for each in new:
                    writer.add(each)
                    added += 1
            break
        except KeyboardInterrupt:
            kept = list(read_records(path))
        # The record that was being added may be there or not.
        possible = [[old[0], *([old[1]] if some == 0 else []), *new[:some]] for some in (added, added + 1)]
        assert kept in possible, moment
        assert hidden(tmp_path) == []
    assert moment > 500
    assert list(read_records(path)) == [old[0], *new]


@pytest.mark.usefixtures("small_limits")
def test_a_folder_has_complete_parts_in_the_order_of_their_numbers(tmp_path: Path, record: Make) -> None:
    (tmp_path / "records").mkdir()
    writer = RecordFileWriter(tmp_path / "records", Scheme())  # an existing folder needs no / at the end
    for number in range(10):
        writer.add(record(number))
    shown = sorted(path.name for path in (tmp_path / "records").glob("[!.]*"))
    assert shown == ["part-00000.parquet", "part-00001.parquet", "part-00002.parquet"]
    assert len(list(read_records(tmp_path / "records"))) == 9
    assert all(not name.endswith(".parquet") for name in hidden(tmp_path))
    writer.close()
    writer.close()
    (tmp_path / "records" / "part-00003.parquet").rename(tmp_path / "records" / "part-100000.parquet")
    write(tmp_path / "records", record(10))
    assert (tmp_path / "records" / "part-100001.parquet").exists()
    assert list(read_records(tmp_path / "records")) == list(map(record, range(11)))


KILLED_SCRIPT = """
import os, pickle, signal, sys
from opensearch_winnow.record_files import atomic_parquet, record_writer
from opensearch_winnow.foundation.scheme import Scheme
record_writer.MAX_WAITING_BYTES, record_writer.MAX_PART_BYTES, atomic_parquet.ROW_GROUP_BYTES = 1_000, 5_500, 3_000
writer = record_writer.RecordFileWriter(sys.argv[1], Scheme())
for record in pickle.load(sys.stdin.buffer):
    writer.add(record)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_run_loses_only_what_is_not_yet_committed(tmp_path: Path, path: str, record: Make) -> None:
    write(path, *map(record, range(3)))
    newer = [record(number, crawl="newer") for number in range(2, 9)]
    done = subprocess.run([sys.executable, "-c", KILLED_SCRIPT, path], input=pickle.dumps(newer), check=False)
    assert done.returncode == -signal.SIGKILL
    assert hidden(tmp_path) != []
    kept = list(map(record, range(3)))
    if path.endswith("/"):
        assert [url for (url,) in read_columns(path, "url")].count(record(2).url) == 2
        kept = [*kept[:2], *newer[:6]]  # two parts of three records; the later of two equal ids counts
    assert list(read_records(path)) == kept
    write(path, record(20))
    assert list(read_records(path)) == [*kept, record(20)]
    assert len(list(read_columns(path, "id"))) == len(kept) + 1
    assert hidden(tmp_path) == []


FULL_DISK_SCRIPT = """
import pickle, resource, signal, sys
from opensearch_winnow.record_files import record_writer
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.scheme import Scheme
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
records = pickle.load(sys.stdin.buffer)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
try:
    with record_writer.RecordFileWriter(sys.argv[1], Scheme()) as writer:
        for record in records:
            writer.add(record)
except FileError as error:
    print(error)
"""


@pytest.mark.check
@pytest.mark.parametrize("room", [0, 2_000, 40_000])
def test_a_full_disk_is_reported_and_the_old_file_stays(tmp_path: Path, path: str, record: Make, room: int) -> None:
    write(path, record(0))
    before = {file: file.read_bytes() for file in tmp_path.rglob("*.parquet")}
    many = pickle.dumps(list(map(record, range(200))))
    command = [sys.executable, "-c", FULL_DISK_SCRIPT, path, str(room)]
    done = subprocess.run(command, input=many, capture_output=True, check=False)
    assert done.stderr == b""
    assert done.stdout.decode().endswith("cannot be written: File too large\n")
    assert done.stdout.count(b"\n") == 1
    assert {file: file.read_bytes() for file in tmp_path.rglob("*.parquet")} == before
    assert hidden(tmp_path) == []


def test_symbolic_links_and_file_modes_are_kept_and_new_files_follow_the_umask(tmp_path: Path, record: Make) -> None:
    target, link = tmp_path / "target.parquet", tmp_path / "link.parquet"
    before = os.umask(0o027)
    try:
        write(target, record(1))
    finally:
        os.umask(before)
    assert target.stat().st_mode & 0o777 == 0o640
    target.chmod(0o604)
    link.symlink_to(target)
    write(link, record(2))
    assert link.is_symlink()
    assert list(read_records(target)) == [record(1), record(2)]
    assert target.stat().st_mode & 0o777 == 0o604
