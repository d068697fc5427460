"""--key-file and WINNOW_KEY_FILE: every command takes the key of a store from a file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opensearch_winnow.foundation.key_file import KEY_VARIABLE
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.record_files.reader import scheme_of
from tests.cli.conftest import OnTerminal, Process, Winnow
from tests.cli.test_command_group import COMMANDS
from tests.meaningless_text import sentences

KEY = "open-sesame-9f1c"
# They open no store; the hashes of the last two leave no trace.
NEED_NO_KEY = {"engine", "completion", "contaminated", "dedup"}


@pytest.fixture(autouse=True)
def unset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)


@pytest.fixture
def key(tmp_path: Path) -> Path:
    (tmp_path / "key").write_text(f"{KEY}\n")
    (tmp_path / "key").chmod(0o600)
    return tmp_path / "key"


@pytest.fixture
def pages(tmp_path: Path) -> Path:
    folder = tmp_path / "pages"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.txt").write_text(sentences(120, 1) + sentences(number, 2))
    return folder


def test_every_command_with_a_store_or_hashes_has_the_option() -> None:
    found = {words: {name for each in command.params for name in each.opts} for words, command in COMMANDS.items()}
    without = {words.split()[0] for words, options in found.items() if "--key-file" not in options}
    assert without == NEED_NO_KEY
    assert all("--key-file" in options for options in found.values() if options & {"--store", "--noise"})


def test_a_store_is_made_and_opened_with_the_key(winnow: Winnow, key: Path, pages: Path, tmp_path: Path) -> None:
    store = tmp_path / "crawl.winnow"
    keyed = ("--store", store, "--key-file", key)
    assert winnow("index", pages, *keyed, "--preset", "passages", "--workers", 2).exit_code == 0
    with Index.open(store, key=KEY) as index:
        assert index.scheme == Scheme(noise=20, guarantee=40, key=KEY)
    assert winnow("index", pages, *keyed, "--workers", 2).exit_code == 0
    assert len(winnow.json("similar", "--file", pages / "0.txt", *keyed)["matches"]) == 3
    assert ["scheme", "keyed", "true"] in winnow.rows("stats", *keyed)
    assert winnow("cluster", *keyed, "--quiet").exit_code == 0
    assert KEY_VARIABLE not in os.environ


@pytest.mark.check
def test_a_key_file_that_others_can_read_is_warned_of_once(
    process: Process, key: Path, pages: Path, tmp_path: Path
) -> None:
    key.chmod(0o644)
    done = process("index", pages, "--store", tmp_path / "crawl.winnow", "--key-file", key, "--workers", "2")
    assert (done.returncode, done.stderr.decode().count(f"chmod 600 {key}")) == (0, 1)


def test_the_variable_does_the_same_and_the_option_wins(
    winnow: Winnow, key: Path, pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "crawl.winnow"
    monkeypatch.setenv(KEY_VARIABLE, str(key))
    assert winnow("index", pages, "--store", store).exit_code == 0
    assert winnow("stats", "--store", store).exit_code == 0
    other = tmp_path / "other"
    other.write_text("another")
    monkeypatch.setenv(KEY_VARIABLE, str(other))
    assert winnow("stats", "--store", store).exit_code == 2
    assert winnow("stats", "--store", store, "--key-file", key).exit_code == 0
    assert os.environ[KEY_VARIABLE] == str(other)


def test_a_wrong_missing_or_needless_key_is_refused_in_a_sentence(
    winnow: Winnow, key: Path, crawl: Path, pages: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keyed, wrong = tmp_path / "keyed.winnow", tmp_path / "wrong"
    wrong.write_text("open-barley-77aa")
    winnow("index", pages, "--store", keyed, "--key-file", key)
    before = keyed.read_bytes()
    right_id = Scheme(key=KEY).id

    def refused(*arguments: str | Path) -> str:
        said = winnow.refused(*arguments)
        assert not {KEY, Scheme(key="open-barley-77aa").id} & set(said.split())
        assert "barley" not in said
        return said.removeprefix("Error: ")

    locked = (
        f"{keyed} cannot be opened: scheme {right_id} has a secret key: name the file that holds it with --key-file"
    )
    needless = f"{crawl} cannot be opened: scheme {Scheme().id} has no key, but --key-file or WINNOW_KEY_FILE names one"
    for command in (("stats",), ("index", pages), ("search", "words")):
        assert refused(*command, "--store", keyed).startswith(locked)
        said = refused(*command, "--store", keyed, "--key-file", wrong)
        assert said == f"{keyed} cannot be opened: wrong key for scheme {right_id}"
        assert refused(*command, "--store", crawl, "--key-file", key).startswith(needless)
    assert keyed.read_bytes() == before
    monkeypatch.setenv(KEY_VARIABLE, str(key))
    assert refused("stats", "--store", crawl).startswith(needless)


def test_a_key_file_that_cannot_be_used_creates_no_store(winnow: Winnow, pages: Path, tmp_path: Path) -> None:
    store = tmp_path / "new.winnow"
    for arguments in (("--store", store), ("--to", tmp_path / "new.parquet")):
        said = winnow.refused("index", pages, *arguments, "--key-file", tmp_path / "missing")
        assert "there is no key file " in said
    assert "name a file" in winnow.refused("index", pages, "--store", store, "--key-file", "")
    assert not list(tmp_path.glob("new*"))


def test_record_files(winnow: Winnow, key: Path, pages: Path, tmp_path: Path) -> None:
    records = tmp_path / "records.parquet"
    assert winnow("index", pages, "--to", records, "--key-file", key).exit_code == 0
    assert scheme_of(records).scheme(KEY) == Scheme(key=KEY)
    assert "of a scheme with a secret key: name the file" in winnow.refused("index", pages, "--to", records)
    assert winnow.json("cluster", "--records", records, "--key-file", key, "--quiet")["pages"] == 3
    assert "has a secret key: name the file" in winnow.refused("cluster", "--records", records, "--quiet")


def test_fingerprints_and_comparisons_of_files(winnow: Winnow, key: Path, pages: Path) -> None:
    text = pages / "0.txt"
    plain, keyed = (winnow.json("fingerprint", text, *more) for more in ([], ["--key-file", key]))
    assert (plain["scheme"], keyed["scheme"]) == (Scheme().id, Scheme(key=KEY).id)
    hashes = [{hash_ for hash_, _ in each["fingerprints"]} for each in (plain, keyed)]
    assert all(hashes)
    assert not hashes[0] & hashes[1]
    arguments = ("compare", text, pages / "2.txt", "--json")
    assert winnow(*arguments, "--key-file", key).stdout == winnow(*arguments).stdout


@pytest.mark.check
def test_the_next_command_names_the_key_file(on_terminal: OnTerminal, key: Path, pages: Path) -> None:
    keyed = ("--store", "crawl.winnow", "--key-file", key.name)
    code, shown = on_terminal("winnow", "index", pages, *keyed)
    assert (code, "--store crawl.winnow --key-file key" in shown.split("→")[1]) == (0, True)
    code, shown = on_terminal("winnow", "stats", "--store", "crawl.winnow", WINNOW_KEY_FILE="key")
    assert (code, "--key-file" in shown.split("→")[1]) == (0, False)


@pytest.mark.check
def test_names_of_watches_are_completed_with_the_key(process: Process, key: Path, pages: Path) -> None:
    keyed = ("--store", "crawl.winnow", "--key-file", key.name)
    assert process("index", pages, *keyed).returncode == 0
    assert process("watch", "add", "press", "--file", pages / "0.txt", *keyed).returncode == 0
    words = f"winnow watch remove {' '.join(keyed)} "
    done = process(_WINNOW_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD="7")
    assert b"press" in done.stdout
