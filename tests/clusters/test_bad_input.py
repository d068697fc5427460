"""Bad input is reported in one sentence, and leaves nothing behind: no table, no part of one, no work folder."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunSettings
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.foundation.errors import FileError, WinnowError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import RecordsError
from tests.clusters.conftest import SCHEMES, page_record, small_crawl, with_damage, write_records
from tests.clusters.crowd import strangers_and_a_family

Refused = Callable[..., str]


@pytest.fixture(scope="module")
def crawl(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a record file with families of pages."""
    path = tmp_path_factory.mktemp("crawl")
    return Path(*small_crawl(8, 100, SCHEMES[0], 1).write(path)).read_bytes()


@pytest.fixture
def refused(folders: tuple[Path, Path]) -> Refused:
    """Return the error message about records, and check that nothing was written."""
    out, work = folders

    def call(*records: Path, kind: type[WinnowError] = RecordsError, **settings: Any) -> str:
        outputs = {"output": f"{out}/clusters.parquet", "evidence": f"{out}/edges.parquet"}
        settings = {**outputs, "work": str(work), **settings}
        with pytest.raises(kind) as raised:
            cluster_records(list(map(str, records)), ClusteringOptions(), RunSettings(**settings))
        assert "\n" not in str(raised.value)
        assert nothing_in(out, work)
        return str(raised.value)

    return call


def nothing_in(*folders: Path) -> bool:
    return not [path for folder in folders for path in folder.iterdir()]


def test_records_of_two_schemes_or_with_a_key(tmp_path: Path, refused: Refused) -> None:
    (tmp_path / "in").mkdir()
    one = Path(write_records(tmp_path / "in" / "one.parquet", [page_record("a", "some words")]))
    scheme = Scheme.preset("passages")
    other = Path(write_records(tmp_path / "in" / "other.parquet", [page_record("b", "some words", scheme)], scheme))
    complaint = refused(one, other)
    assert complaint.startswith(f"{other} has records of scheme {scheme.id}, not {Scheme().id}")
    assert "parts of two schemes" in refused(tmp_path / "in")
    keyed = Scheme(key="open sesame")
    path = write_records(tmp_path / "r.parquet", [page_record("a", "some words", keyed)], keyed)
    assert "has a secret key: name the file" in refused(Path(path))
    assert cluster_records([path], ClusteringOptions(), RunSettings(key="open sesame")).pages == 1
    assert "sesame" not in repr(RunSettings(key="open sesame"))


def test_files_that_are_not_records_or_cut_off(tmp_path: Path, refused: Refused, crawl: bytes) -> None:
    pq.write_table(pa.table({"url": ["a"]}), tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("not Parquet at all")
    (tmp_path / "empty").mkdir()
    for name, (kind, complaint) in {
        "gone.parquet": (FileError, "there is no record file"),
        "other.parquet": (RecordsError, "but not one of winnow's records"),
        "text.parquet": (RecordsError, "cannot be read as a record file"),
        "empty": (FileError, "has no record files"),
    }.items():
        assert complaint in refused(tmp_path / name, kind=kind)
    assert "there are no record files" in refused(kind=ClusterError)
    path = tmp_path / "damaged.parquet"
    for length in (0, 3, 1_000, len(crawl) // 2, len(crawl) - 1):
        path.write_bytes(crawl[:length])
        assert f"{path} cannot be read as a record file, or is damaged" in refused(path)


def test_bytes_that_changed(tmp_path: Path, refused: Refused, crawl: bytes) -> None:
    """In every column that is read, in a single file or in the last one of two."""
    whole, path = tmp_path / "whole.parquet", tmp_path / "damaged.parquet"
    whole.write_bytes(crawl)
    for name in ("id", "url", "fetched_at", "shingle_digest", "text", "sketch.list.element", "minhash"):
        path.write_bytes(with_damage(whole, name))
        for records in ([path], [whole, path]):
            assert f"{path} cannot be read as a record file, or is damaged" in refused(*records), name


def test_bad_outputs(tmp_path: Path, refused: Refused, crawl: bytes) -> None:
    path = tmp_path / "r.parquet"
    path.write_bytes(crawl)
    gone = str(tmp_path / "gone" / "clusters.parquet")
    assert f"there is no folder {tmp_path}/gone" in refused(path, kind=FileError, output=gone)
    assert "is a folder; name a file" in refused(path, kind=FileError, evidence=str(tmp_path))
    assert f"cannot work in the folder {tmp_path}/gone" in refused(path, kind=ClusterError, work=str(tmp_path / "gone"))
    (tmp_path / "there.parquet").write_text("mine")
    complaint = refused(path, kind=FileError, output=str(tmp_path / "there.parquet"))
    assert complaint.startswith(f"{tmp_path}/there.parquet exists")
    assert (tmp_path / "there.parquet").read_text() == "mine"
    for memory in ("much", "-1GB", "GB", "99MB"):
        said = refused(path, kind=ClusterError, memory=memory)
        assert said == f"memory is a memory size of at least 100MB, such as 512MB or 2GB, not {memory!r}"


def test_a_folder_of_somebody_else(as_anybody: Path, crawl: bytes) -> None:
    path, closed = as_anybody / "r.parquet", as_anybody / "closed"
    path.write_bytes(crawl)
    closed.mkdir(mode=0o555)
    for settings in (RunSettings(output=str(closed / "c.parquet")), RunSettings(work=str(closed))):
        with pytest.raises(WinnowError, match=r"closed.*Permission denied"):
            cluster_records([str(path)], ClusteringOptions(), settings)
    assert sorted(each.name for each in as_anybody.iterdir()) == ["closed", "r.parquet"]
    assert nothing_in(closed)


def test_overwrite(tmp_path: Path, crawl: bytes) -> None:
    path, output = tmp_path / "r.parquet", tmp_path / "clusters.parquet"
    path.write_bytes(crawl)
    cluster_records([str(path)], ClusteringOptions(), RunSettings(output=str(output)))
    before = output.read_bytes()
    output.write_text("mine")
    cluster_records([str(path)], ClusteringOptions(), RunSettings(output=str(output), overwrite=True))
    assert output.read_bytes() == before
    assert sorted(each.name for each in tmp_path.iterdir()) == ["clusters.parquet", "r.parquet"]


RUN = """
import os, resource, signal, sys
from opensearch_winnow.clusters.options import ClusteringOptions, RunSettings
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.foundation.errors import FileError, WinnowError

records, output, work, most, phase = sys.argv[1:]


def progress(now, done, total):
    if now == phase:
        print("there", flush=True)
        sys.stdin.read()


if most:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(most), resource.RLIM_INFINITY))
try:
    settings = RunSettings(output=output, work=work, memory="200MB", progress=progress)
    cluster_records([records], ClusteringOptions(), settings)
except WinnowError as error:
    print(error)
print(os.listdir(work))
"""


def program(records: Path, output: Path, work: Path, *, most: str = "", phase: str = "") -> list[str]:
    return [sys.executable, "-c", RUN, str(records), str(output), str(work), most, phase]


def on_small_disk(command: list[str], folder: Path, size: int) -> tuple[list[str], bool]:
    """Return the command on a disk of `size` bytes mounted at `folder`, and whether mounting is possible.

    If the user may not mount a disk, the size of each file is limited to `size` or a million bytes instead.
    """
    mount = f"mount -t tmpfs -o size={size} tmpfs {folder}"
    alone = ["unshare", "--mount", "--map-root-user", "sh", "-c", f'{mount} && exec "$@"', "sh"]
    if shutil.which("unshare") and not subprocess.run([*alone, "true"], capture_output=True, check=False).returncode:
        return [*alone, *command], True
    blocks = min(size, 1_000_000) // 512
    return ["sh", "-c", f'ulimit -f {blocks}; exec "$@"', "sh", *command], False


@pytest.fixture(scope="module")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(write_records(tmp_path_factory.mktemp("crowd") / "r.parquet", islice(strangers_and_a_family(), 3_000)))


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """A folder for the output, and a work folder."""
    for name in ("out", "work"):
        (tmp_path / name).mkdir()
    return tmp_path / "out", tmp_path / "work"


def complaint_of(command: list[str]) -> str:
    """Return what a command complains of, after checking that it has ended well and emptied its work folder."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    complaint, left = done.stdout.splitlines()
    assert (done.returncode, done.stderr, left) == (0, "", "[]")
    return complaint


@pytest.mark.check
@pytest.mark.parametrize(
    ("place", "size"),
    [("work", size) for size in (40_000, 400_000, 1_000_000, 2_000_000, 4_000_000, 8_000_000)]
    + [("out", 4_096), ("out", 40_000)],
)
def test_a_full_disk(crowd: Path, folders: tuple[Path, Path], place: str, size: int) -> None:
    out, work = folders
    folder = {"out": out, "work": work}[place]
    command, on_disk = on_small_disk(program(crowd, out / "clusters.parquet", work), folder, size)
    complaint = complaint_of(command)
    if not on_disk:
        assert complaint.startswith((str(out), str(work)))
        assert complaint.endswith(": File too large")
    elif place == "work":
        assert complaint == f"the disk of the work folder {work} is full: free some space, or name another with --work"
    else:
        assert complaint == f"{out}/clusters.parquet cannot be written: No space left on device"
    assert nothing_in(out, work)


@pytest.mark.check
@pytest.mark.parametrize("most", [0, 5_000, 100_000, 1_000_000])
def test_files_that_may_not_grow(crowd: Path, folders: tuple[Path, Path], most: int) -> None:
    out, work = folders
    assert "File too large" in complaint_of(program(crowd, out / "clusters.parquet", work, most=str(most)))
    assert nothing_in(out, work)


@pytest.mark.check
@pytest.mark.parametrize("phase", ["reading", "pairing", "comparing", "clustering", "writing"])
def test_killed(crowd: Path, folders: tuple[Path, Path], phase: str) -> None:
    """The output does not appear, and hidden leftovers do not disturb the next run."""
    out, work = folders
    output = out / "clusters.parquet"
    command = program(crowd, output, work, phase=phase)
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout is not None
        assert run.stdout.readline() == "there\n"
        run.kill()
    assert [path.name for path in out.iterdir() if not path.name.startswith(".")] == []
    cluster_records([str(crowd)], ClusteringOptions(), RunSettings(output=str(output), work=str(work)))
    assert [path.name for path in out.iterdir()] == ["clusters.parquet"]
