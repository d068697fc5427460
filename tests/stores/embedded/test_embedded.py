"""Properties of the embedded store alone: it is one file that identifies itself."""

from __future__ import annotations

import os
import re
import socket
import sqlite3
from array import array
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings, strategies as st

from opensearch_winnow import Filters, Index, Scheme
from opensearch_winnow.mappings import sqlite_schema
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.lookups import Lookup
from opensearch_winnow.queries.scores import Sketches
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.captures import captures
from opensearch_winnow.stores.embedded import EmbeddedStore, statistics, writes
from opensearch_winnow.stores.embedded.rows import ZSTD_FRAME
from opensearch_winnow.stores.embedded.seals import SEAL_BYTES
from opensearch_winnow.stores.store import StoreError, Text
from tests.stores.conftest import numbered
from tests.stores.embedded.store_files import filled, python, rows
from tests.stores.store_questions import candidates, search

# --- the file ---------------------------------------------------------------------------------------------------------


def test_one_file_that_says_what_it_is(path: Path) -> None:
    scheme = Scheme(noise=20, guarantee=40, key="secret")
    with EmbeddedStore.open(path, scheme, create=True) as store:
        store.write([numbered(1)])
        assert (store.name, store.path, store.scheme) == (str(path), path, scheme)
    assert [each.name for each in path.parent.iterdir()] == [path.name]
    assert path.read_bytes()[68:72] == b"winn"
    assert b"secret" not in path.read_bytes()
    with rows(path) as there:
        assert there.execute("PRAGMA user_version").fetchone() == (sqlite_schema.current_format(),)
        assert there.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    with EmbeddedStore.open(path, key="secret") as store:
        assert store.scheme == scheme
        assert list(store.scan(Record)) == [numbered(1)]


def test_what_is_left_can_be_read_after_erasing(path: Path) -> None:
    records = list(map(numbered, range(20)))
    with EmbeddedStore.open(path, create=True) as store:
        store.write(records)
        store.settings.set({"kept": [1]})
        store.erase()
        store.delete([each.id for each in records[::2]])
        store.erase()
        assert list(store.scan(Record)) == records[1::2]
        (found,) = candidates(store, [Lookup("fingerprints", records[1].hashes.fingerprints)])
        assert records[1].id in {page.id for page in found.pages}
        assert store.settings.get("kept") == [1]


def test_a_process_that_only_reads_sees_the_pages(path: Path) -> None:
    record, address = numbered(1), f"{path.as_uri()}?mode=ro"
    with EmbeddedStore.open(path, create=True) as store, closing(sqlite3.connect(address, uri=True)) as there:
        store.write([record])
        found = there.execute("SELECT content_digest FROM page WHERE id = ?", (bytes.fromhex(record.id),))
        assert found.fetchall() == [(bytes.fromhex(record.content_digest),)]


@pytest.mark.check
def test_opening_waits_for_no_arrow(path: Path) -> None:
    run = python("EmbeddedStore.open(sys.argv[1], create=True).close(); print('pyarrow' in sys.modules)", path)
    assert run.communicate()[0] == "False\n"


@pytest.mark.parametrize("name", ["a?b#c%41.winnow", "é 日.winnow", "a[1].winnow", os.fsdecode(b"caf\xe9"), "-x"])
def test_any_name(tmp_path: Path, name: str) -> None:
    filled(tmp_path / name, 1)
    assert [each.name for each in tmp_path.iterdir()] == [name]
    with EmbeddedStore.open(tmp_path / name) as store:
        assert store.count() == 1


def test_a_link_stays_one(tmp_path: Path, path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(path)
    for number in (1, 2):
        filled(link, number)
    with EmbeddedStore.open(path) as store:
        assert (link.is_symlink(), store.count()) == (True, 2)


def test_sizes_add_up_to_the_files(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sizes(store: EmbeddedStore) -> dict[str, int]:
        found = store.statistics().sizes
        assert sum(found.values()) == sum(each.stat().st_size for each in path.parent.iterdir())
        return found

    with EmbeddedStore.open(path, create=True) as store:
        for number in range(3):
            store.write([numbered(each) for each in range(number * 100, number * 100 + 100)])
            assert min(sizes(store).values()) > 0
    with EmbeddedStore.open(path) as store:
        named = {"texts", "hashes", "pages", "text index", "fingerprints", "sketch", "bands"}
        assert named < sizes(store).keys()
        monkeypatch.setattr(statistics, "SIZES_TABLE", "dbstat_that_is_not_there")
        assert sizes(store).keys() <= {"all", "free", "log"}


def test_texts_are_packed_where_it_helps(path: Path) -> None:
    filled(path, 1)
    with EmbeddedStore.open(path) as store:
        store.write([numbered(2, text="short"), numbered(3, text="")])
    with rows(path) as there:
        found = there.execute("SELECT text FROM page_text JOIN page USING (number) ORDER BY arrival").fetchall()
    assert [text.startswith(ZSTD_FRAME) for (text,) in found] == [True, False, False]
    assert [len(text) for (text,) in found[1:]] == [5 + SEAL_BYTES, SEAL_BYTES]


# --- what is no store, or another -------------------------------------------------------------------------------------


def test_what_is_no_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "notes.txt").write_text("my notes")
    with rows(tmp_path / "other.db") as there:
        there.execute("CREATE TABLE page (id)")
    (tmp_path / "cut").write_bytes(filled(tmp_path / "whole", 1).read_bytes()[:60])
    with rows(filled(tmp_path / "newer", 1)) as there:
        there.execute(f"PRAGMA user_version = {sqlite_schema.current_format() + 1}")
    before = {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()}
    for name, words in {
        "gone": "there is no store",
        "folder": "folder is a folder",
        "empty": "empty is an empty file",
        "notes.txt": "notes.txt is another kind of file",
        "other.db": "other.db is another SQLite database",
        "cut": "cut is another SQLite database",
        "newer": r"written by another version of winnow \(store format 2; this one knows 1\)",
        "folder/no/store": "there is no store",
        "notes.txt/store": "cannot be read: Not a directory",
    }.items():
        with pytest.raises(StoreError, match=words) as caught:
            EmbeddedStore.open(tmp_path / name)
        assert "\n" not in str(caught.value)
        if name != "gone":
            with pytest.raises(StoreError):
                EmbeddedStore.open(tmp_path / name, create=True)
    with pytest.raises(StoreError, match=r"x.winnow cannot be created: there is no folder .*gone"):
        EmbeddedStore.open(tmp_path / "gone" / "x.winnow", create=True)
    assert {each: each.read_bytes() for each in tmp_path.rglob("*") if each.is_file()} == before


@pytest.mark.parametrize("create", [True, False])
def test_only_a_regular_file_is_opened(tmp_path: Path, create: bool) -> None:
    pipe, bound = tmp_path / "pipe", tmp_path / "socket"
    os.mkfifo(pipe)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(bound))
        for name, kind in ((pipe, "a FIFO"), (bound, "a socket"), ("/dev/zero", "a device")):
            with pytest.raises(StoreError, match=re.escape(f"{name} is {kind}, but a store is a regular file")):
                Index.open(name, create=create)


def test_another_scheme_is_refused(path: Path) -> None:
    filled(path, 1)
    other, before = Scheme.preset("passages"), path.read_bytes()
    with pytest.raises(StoreError, match=f"has records of scheme {Scheme().id}, not {other.id}: ") as refused:
        EmbeddedStore.open(path, other, create=True)
    assert str(refused.value).endswith("(it has noise 50, not 20; guarantee 149, not 40)")
    for scheme, key, words in (
        (Scheme(fold_confusables=True), None, r"\(it has fold_confusables False, not True\)"),
        (None, "any", "has no key, but one was given"),
        (Scheme(), "any", "has no key, but one was given"),
        (Scheme(key="any"), None, "has no key, but one was given"),
        (other, "any", f", not {replace(other, key='any').id}: "),
    ):
        with pytest.raises(StoreError, match=words):
            EmbeddedStore.open(path, scheme, key=key)
    assert path.read_bytes() == before
    with EmbeddedStore.open(path, Scheme()) as store:
        assert store.count() == 1


def test_a_key_has_to_be_said(path: Path) -> None:
    scheme = Scheme(key="secret")
    EmbeddedStore.open(path, key="secret", create=True).close()
    for wanted in (None, Scheme()):
        with pytest.raises(StoreError, match=r"has a secret key: .*--key-file or WINN"):
            EmbeddedStore.open(path, wanted)
    for wanted, key in ((None, "wrong"), (Scheme(), "wrong"), (Scheme(key="wrong"), None), (scheme, "wrong")):
        with pytest.raises(StoreError, match=r"wrong key for scheme \S+$") as caught:
            EmbeddedStore.open(path, wanted, key=key)
        assert Scheme(key="wrong").id not in str(caught.value)
    for opened in (EmbeddedStore.open(path, scheme), EmbeddedStore.open(path, Scheme(), key="secret")):
        assert opened.scheme == scheme
        opened.close()


def test_a_store_that_is_closed_says_so(path: Path) -> None:
    store = EmbeddedStore.open(path, create=True)
    for _ in range(2):
        store.close()
    with pytest.raises(StoreError, match="closed"):
        store.count()


# --- damage -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return filled(tmp_path_factory.mktemp("whole") / "crawl.winnow", *range(30))


def everything(store: EmbeddedStore) -> None:
    record = numbered(3)
    ids = [numbered(number).id for number in range(30)]
    for use in (
        lambda: store.read(ids, Record),
        lambda: store.read(ids, Text),
        lambda: store.read(ids, Sketches),
        lambda: captures(store, record.url),
        lambda: candidates(store, [Lookup("fingerprints", record.hashes.fingerprints)]),
        lambda: store.frequencies([Lookup("bands", record.hashes.bands)], over=3),
        lambda: search(store, Words.of("words -nothing")),
        lambda: search(store, Words.of('"words that" OR w*')),
        lambda: list(store.scan(Record, Filters(latest=True))),
        lambda: list(store.scan(Card)),
        store.settings.with_prefix,
        store.statistics,
        store.count,
        lambda: store.set_clusters({record.id: "0" * 32}),
        lambda: store.write([numbered(3, title="again"), numbered(40)]),
        lambda: store.delete(ids[:5]),
        lambda: store.settings.set({"a": 1}),
    ):
        with suppress(StoreError):
            use()


@pytest.mark.check
@settings(max_examples=200)
@given(
    st.lists(st.tuples(st.integers(0, 10**6), st.binary(min_size=1, max_size=40)), max_size=5),
    st.none() | st.integers(1, 10**6),
)
def test_a_damaged_file_is_said_to_be_one(whole: Path, wrong: list[tuple[int, bytes]], length: int | None) -> None:
    """Whichever bytes are wrong, there is an answer or a StoreError: no other exception, and no crash."""
    content = bytearray(whole.read_bytes())
    for place, some in wrong:
        start = place % len(content)
        content[start : start + len(some)] = some
    if length is not None:
        del content[length % len(content) :]
    with TemporaryDirectory() as folder:
        path = Path(folder, "crawl.winnow")
        path.write_bytes(content)
        with suppress(StoreError), EmbeddedStore.open(path) as store:
            everything(store)


def test_the_sentence_about_a_damaged_file(path: Path, whole: Path) -> None:
    content = whole.read_bytes()
    content = content[:16_384] + bytes(len(content) - 16_384)
    path.write_bytes(content)
    with EmbeddedStore.open(path) as store:
        for use in (lambda: list(store.scan(Record)), lambda: store.write([numbered(1)])):
            with pytest.raises(StoreError, match=r"crawl.winnow is damaged \(.+\): "):
                use()
    assert path.read_bytes()[16_384:] == content[16_384:]


# --- where nothing can be written -------------------------------------------------------------------------------------

READ_ONLY = """
from tests.stores.store_questions import search
from opensearch_winnow.mappings.record import Record
if os.geteuid() == 0:
    os.setresuid(65534, 65534, 65534) # root may write anywhere
try:
    with EmbeddedStore.open(sys.argv[1]) as store:
        print(store.count(), len(list(store.scan(Record))), search(store, Words.of("words")).total)
        store.write([numbered(9)])
except StoreError as error:
    print(error)
try:
    EmbeddedStore.open(sys.argv[1] + "-new", create=True).close()
except StoreError as error:
    print(error)
"""


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that other users can read."""
    with TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)
        Path(folder).chmod(0o755)


@pytest.mark.parametrize(("folder", "file"), [(0o555, 0o444), (0o555, 0o666), (0o777, 0o444)])
def test_a_store_that_cannot_be_written_can_be_read(public: Path, folder: int, file: int) -> None:
    path = filled(public / "crawl.winnow", 1, 2)
    path.chmod(file)
    public.chmod(folder)
    shown = python(READ_ONLY, path).communicate()[0].splitlines()
    assert shown[0] == "2 2 2"
    assert shown[1].startswith(f"{path} cannot be written here (attempt to write a readonly database): ")
    if folder == 0o555:
        assert shown[2].startswith(f"{path}-new cannot be written here (unable to open database file): ")
        assert [each.name for each in public.iterdir()] == [path.name]


def test_reading_without_rights_what_another_writes(public: Path) -> None:
    path = filled(public / "crawl.winnow", 1)
    with EmbeddedStore.open(path) as store:
        store.write([numbered(2)])
        assert path.with_name(f"{path.name}-wal").exists()
        public.chmod(0o555)
        assert python(READ_ONLY, path).communicate()[0].startswith("2 2 2\n")


def test_what_cannot_be_read_or_brought_to_our_format(public: Path) -> None:
    path = filled(public / "crawl.winnow", 1, 2)
    newer = "from opensearch_winnow.mappings import sqlite_schema; sqlite_schema.MIGRATIONS = ('',)\n"
    older = "was written by an older winnow (store format 1; this one has 2), and cannot be written"
    for mode, words in ((0o444, older), (0, "cannot be read: Permission denied\n")):
        path.chmod(mode)
        assert python(newer + READ_ONLY, path).communicate()[0].startswith(f"{path} {words}")


# --- deleted pages ----------------------------------------------------------------------------------------------------


def test_postings_of_pages_that_are_gone_are_dropped_together(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writes, "MIN_GONE_PAGES", 10)
    shared = array("Q", [7])
    with EmbeddedStore.open(path, create=True) as store:
        store.write([numbered(number, bands=shared) for number in range(100)])
        for number in range(0, 60, 3):
            store.delete([numbered(number).id])
            store.write([numbered(number + 1, bands=shared, title="again")])
            live = 100 - number // 3 - 1
            assert store.frequencies([Lookup("bands", shared)], over=0) == [{7: live}]
            assert len(candidates(store, [Lookup("bands", shared)])[0].pages) == live
            assert store.statistics().frequencies["bands"] == {live: 1}
        with rows(path) as there:
            (gone,) = there.execute("SELECT count(*) FROM gone").fetchone()
            (postings,) = there.execute("SELECT sum(postings) FROM run WHERE field = 'bands'").fetchone()
    assert gone <= 11
    assert postings == 80 + gone
