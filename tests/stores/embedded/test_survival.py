"""The embedded store used by several processes, and after a process is killed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from random import Random
from time import sleep
from unittest.mock import Mock

import pytest

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded import EmbeddedStore, file, writes
from opensearch_winnow.stores.embedded.rows import row_checksum
from opensearch_winnow.stores.store import StoreError
from tests.stores.conftest import numbered
from tests.stores.embedded.store_files import filled, python, rows
from tests.stores.store_questions import candidates, search

# --- several at a time ------------------------------------------------------------------------------------------------


@pytest.mark.check
def test_a_second_opening_does_not_drop_the_locks_of_the_first(path: Path) -> None:
    """Otherwise another process removes the log that the first still uses, and what the first commits is lost."""

    def write_elsewhere(number: int) -> None:
        EmbeddedStore.open(path).close()
        with python(f"with EmbeddedStore.open(sys.argv[1]) as store: store.write([numbered({number})])", path):
            pass

    filled(path, 1)
    with EmbeddedStore.open(path) as store:
        assert store.count() == 1
        write_elsewhere(2)
        assert store.count() == 2
        assert [each.outcome for each in store.write([numbered(3)])] == ["added"]
        write_elsewhere(4)
    with EmbeddedStore.open(path) as store:
        assert sorted(record.url for record in store.scan(Record)) == sorted(numbered(n).url for n in (1, 2, 3, 4))


COMMANDS = """
from opensearch_winnow.cli import main

def refuse(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".winnow"):
        raise RuntimeError(f"{arguments[0]} was opened")

sys.addaudithook(refuse)
folder = os.path.dirname(sys.argv[1])
os.environ["WINNOW_STORE"] = sys.argv[1]
index = f"index {folder} --base-url https://mill.example --quiet"
similar = "similar https://mill.example/mill.html"
for command in (index, index, "stats", "search mill", similar, "cluster", "export --to -"):
    main(command.split(), standalone_mode=False)
"""


@pytest.mark.check
def test_only_sqlite_opens_a_store(path: Path) -> None:
    """To close a file that was opened otherwise drops the locks of this process."""
    filled(path, 1)
    (path.parent / "mill.html").write_text("<p>The mill stood still.</p>")
    process = python(COMMANDS, path)
    process.communicate()
    assert process.returncode == 0


def test_a_second_writer_waits_for_its_turn(path: Path) -> None:
    filled(path, 1)
    with rows(path) as other, EmbeddedStore.open(path) as store, ThreadPoolExecutor(1) as thread:
        other.execute("BEGIN IMMEDIATE")
        other.execute("INSERT INTO setting VALUES ('a', '1', ?)", (row_checksum("a", "1"),))
        writing = thread.submit(store.write, [numbered(2)])
        with EmbeddedStore.open(path) as reader:  # readers do not wait
            assert reader.count() == 1
            assert reader.settings.with_prefix() == {}
        sleep(0.2)
        assert not writing.done()
        other.execute("COMMIT")
        assert [each.outcome for each in writing.result()] == ["added"]
        assert store.settings.with_prefix() == {"a": 1}


def test_what_a_killed_creator_left_is_removed(path: Path) -> None:
    left = [path.with_name(f".{path.name}.new{ending}") for ending in ("", "-wal", "-journal")]
    for each in left:
        each.write_bytes(b"half of a store")
    EmbeddedStore.open(path, create=True).close()
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_one_of_many_creators_wins(path: Path) -> None:
    def create(number: int) -> None:
        with EmbeddedStore.open(path, create=True) as store:
            store.write([numbered(number)])

    with ThreadPoolExecutor(8) as threads:
        list(threads.map(create, range(8)))
    with EmbeddedStore.open(path) as store:
        assert store.count() == 8
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_writer_does_not_wait_for_ever(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "WRITE_WAIT_SECONDS", 0.1)
    filled(path, 1)
    with rows(path) as other, EmbeddedStore.open(path) as store:
        other.execute("BEGIN IMMEDIATE")
        for write in (
            lambda: store.write([numbered(2)]),
            lambda: store.delete([numbered(1).id]),
            lambda: store.settings.set({"a": 1}),
        ):
            with pytest.raises(StoreError, match=r"another process has been writing to .*: try again when it is done"):
                write()
        other.execute("ROLLBACK")
        store.write([numbered(2)])
        assert store.count() == 2


WRITER = """
with EmbeddedStore.open(sys.argv[1]) as store:
    for batch in range(int(sys.argv[2]), int(sys.argv[3])):
        store.write([numbered(number) for number in range(batch * 20, batch * 20 + 20)])
        print(batch, flush=True)
"""


@pytest.mark.check
def test_reading_while_another_process_writes(path: Path) -> None:
    filled(path)
    with EmbeddedStore.open(path) as store, python(WRITER, path, 0, 40) as writer:
        assert writer.stdout is not None
        seen = 0
        for line in writer.stdout:
            assert store.count() >= (int(line) + 1) * 20
            records = list(store.scan(Record))
            assert (len(records) % 20, seen <= len(records)) == (0, True)
            seen, last = len(records), records[-1]
            ((_, found, _),) = candidates(store, [Lookup("fingerprints", last.hashes.fingerprints)])
            assert [each.id for each in found] == [last.id]
            assert search(store, Words.of("words"), limit=1).total >= seen
    assert (writer.returncode, seen) == (0, 800)


@pytest.mark.check
def test_several_processes_write(path: Path) -> None:
    code = "EmbeddedStore.open(sys.argv[1], create=True).close()" + WRITER
    for writer in [python(code, path, number * 10, number * 10 + 10) for number in range(3)]:
        assert (len(writer.communicate()[0].split()), writer.returncode) == (10, 0)
    with EmbeddedStore.open(path) as store:
        assert sorted(each.url for each in store.scan(Card)) == sorted(numbered(number).url for number in range(600))
        assert store.statistics().frequencies["bands"] == {1: 600 * 32}


# --- sudden ends ------------------------------------------------------------------------------------------------------


@pytest.mark.check
def test_acknowledged_batches_survive_kill_9(path: Path) -> None:
    filled(path)
    source = Random(5)
    batches = 0
    # Small runs and segments, so that the process is often killed during a merge.
    code = (
        "import opensearch_winnow.stores.embedded.postings as p;"
        "p.FIRST_RUN_POSTINGS, p.GROWTH, p.BLOCK_BYTES = 500, 2, 200;"
        "import opensearch_winnow.stores.embedded.text_index as t; t.MERGE_FACTOR = 2" + WRITER
    )
    for _ in range(12):
        with python(code, path, batches, 10_000) as writer:
            assert writer.stdout is not None
            acknowledged = [writer.stdout.readline()]
            sleep(source.random() * 0.3)
            writer.kill()
            acknowledged += writer.stdout.readlines()
        with EmbeddedStore.open(path) as store:
            count = store.count()
            assert count in (20 * (batches + len(acknowledged)), 20 * (batches + len(acknowledged) + 1))
            batches = count // 20
            assert [each.url for each in store.scan(Card)] == [numbered(number).url for number in range(count)]
            assert store.statistics().frequencies["fingerprints"] == {1: count * 10}
            assert search(store, Words.of("words"), limit=1).total == count
            for number in source.sample(range(count), 5):
                assert store.read([numbered(number).id], Record) == {numbered(number).id: numbered(number)}
                ((_, found, _),) = candidates(store, [Lookup("bands", numbered(number).hashes.bands)])
                assert [(each.id, each.shared) for each in found] == [(numbered(number).id, 32)]
        with rows(path) as there:
            assert there.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    assert batches > 12


def test_a_full_disk_leaves_what_was_there(path: Path) -> None:
    filled(path, *range(20))
    with EmbeddedStore.open(path) as store:
        (pages,) = store._file.db.execute("PRAGMA page_count").fetchone()
        store._file.db.execute(f"PRAGMA max_page_count = {pages + 3}")
        with pytest.raises(StoreError, match=r"there is no space left for .*; what was stored before is intact"):
            store.write([numbered(number) for number in range(20, 400)])
        assert list(store.scan(Record)) == [numbered(number) for number in range(20)]
        store._file.db.execute("PRAGMA max_page_count = 1000000")
        store.write([numbered(number) for number in range(20, 400)])
        assert store.statistics().frequencies["fingerprints"] == {1: 4_000}


LIMITED = """
with EmbeddedStore.open(sys.argv[1]) as store:
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    for batch in range(1_000):
        try:
            store.write([numbered(number) for number in range(batch * 20, batch * 20 + 20)])
        except StoreError as error:
            print(batch, error, store.count())
            break
"""


@pytest.mark.check
def test_a_file_that_may_not_grow(path: Path) -> None:
    filled(path)
    shown = python(LIMITED, path, 2_000_000).communicate()[0]
    batch, _, rest = shown.partition(" ")
    assert rest.startswith(f"{path} cannot be written (disk I/O error, SQLITE_IOERR_WRITE); ")
    assert rest.endswith(f" {int(batch) * 20}\n")
    with EmbeddedStore.open(path) as store:
        assert list(store.scan(Record)) == [numbered(number) for number in range(int(batch) * 20)]
        store.write([numbered(9_999)])


def test_an_exception_amid_a_write_leaves_nothing(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(path, 1)
    with EmbeddedStore.open(path) as store:
        with monkeypatch.context() as patched:
            patched.setattr(writes, "_drop_postings", Mock(side_effect=KeyboardInterrupt))
            with pytest.raises(KeyboardInterrupt):
                store.write([numbered(1, title="new"), numbered(2)])
        assert list(store.scan(Record)) == [numbered(1)]
        store.write([numbered(2)])
        assert store.count() == 2


def test_an_empty_store_is_removed_unless_another_has_it_open(path: Path) -> None:
    EmbeddedStore.open(path, create=True).close()
    with EmbeddedStore.open(path) as other:
        file.remove_if_empty(path)
        other.write([numbered(1)])
    file.remove_if_empty(path)
    with rows(path) as db:  # others can still read it while it is written
        assert db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with EmbeddedStore.open(path) as store:
        assert store.count() == 1
        store.delete([numbered(1).id])
    file.remove_if_empty(path)
    assert list(path.parent.iterdir()) == []
