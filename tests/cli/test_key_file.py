"""--key-file and WINNOW_KEY_FILE: every command takes the key of a store from a file."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from click.testing import Result

from opensearch_winnow.cli import main
from opensearch_winnow.foundation.key_file import KEY_VARIABLE
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.record_files.reader import scheme_of
from tests.meaningless_text import sentences

Winnow = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]

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


def commands(group: click.Group, *names: str) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with its words, those of groups too."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from commands(command, *names, name)
        else:
            yield (*names, name), command


def test_every_command_with_a_store_or_hashes_has_the_option() -> None:
    found = {words: {name for each in command.params for name in each.opts} for words, command in commands(main)}
    without = {words[0] for words, options in found.items() if "--key-file" not in options}
    assert without == NEED_NO_KEY
    assert all("--key-file" in options for options in found.values() if options & {"--store", "--noise"})


def test_a_store_is_made_and_opened_with_the_key(winnow: Winnow, key: Path, pages: Path, tmp_path: Path) -> None:
    store = tmp_path / "crawl.winnow"
    keyed = ("--store", store, "--key-file", key)
    assert winnow("index", pages, *keyed, "--preset", "passages", "--workers", 2).exit_code == 0
    with Index.open(store, key=KEY) as index:
        assert index.scheme == Scheme(noise=20, guarantee=40, key=KEY)
    assert winnow("index", pages, *keyed, "--workers", 2).exit_code == 0
    found = winnow("similar", "--file", pages / "0.txt", *keyed, "--json")
    assert found.exit_code == 0
    assert len(json.loads(found.stdout)["matches"]) == 3
    assert "scheme\tkeyed\ttrue" in winnow("stats", *keyed).stdout
    assert winnow("cluster", *keyed, "--quiet").exit_code == 0
    assert KEY_VARIABLE not in os.environ


@pytest.mark.check
def test_a_key_file_that_others_can_read_is_warned_of_once(
    process: Process, key: Path, pages: Path, tmp_path: Path
) -> None:
    key.chmod(0o644)
    done = process("index", pages, "--store", tmp_path / "crawl.winnow", "--key-file", key, "--workers", "2")
    assert done.returncode == 0
    assert done.stderr.decode().count(f"chmod 600 {key}") == 1


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
        done = winnow(*arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert not {KEY, "barley", Scheme(key="open-barley-77aa").id} & set(done.stderr.split())
        assert "barley" not in done.stderr
        return " ".join(done.stderr.split()).removeprefix("Error: ")

    for command in (("stats",), ("index", pages), ("search", "words")):
        assert refused(*command, "--store", keyed) == (
            f"{keyed} cannot be opened: scheme {right_id} has a secret key: name the file that holds it with --key-file"
            " or WINNOW_KEY_FILE, or pass it as key"
        )
        said = refused(*command, "--store", keyed, "--key-file", wrong)
        assert said == f"{keyed} cannot be opened: wrong key for scheme {right_id}"
        assert refused(*command, "--store", crawl, "--key-file", key) == (
            f"{crawl} cannot be opened: scheme {Scheme().id} has no key, but --key-file or WINNOW_KEY_FILE names one:"
            " leave it out, or index the pages again with it"
        )
    assert keyed.read_bytes() == before
    monkeypatch.setenv(KEY_VARIABLE, str(key))
    assert "has no key, but --key-file or WINNOW_KEY_FILE names one" in refused("stats", "--store", crawl)


def test_a_key_file_that_cannot_be_used_creates_no_store(winnow: Winnow, pages: Path, tmp_path: Path) -> None:
    store = tmp_path / "new.winnow"
    for arguments in (("--store", store), ("--to", tmp_path / "new.parquet")):
        done = winnow("index", pages, *arguments, "--key-file", tmp_path / "missing")
        assert done.exit_code == 2
        assert f"there is no key file {tmp_path / 'missing'}" in done.stderr.replace("\n", "")
    done = winnow("index", pages, "--store", store, "--key-file", "")
    assert done.exit_code == 2
    assert "name a file" in done.stderr
    assert not list(tmp_path.glob("new*"))


def test_record_files(winnow: Winnow, key: Path, pages: Path, tmp_path: Path) -> None:
    records = tmp_path / "records.parquet"
    assert winnow("index", pages, "--to", records, "--key-file", key).exit_code == 0
    assert scheme_of(records).scheme(KEY) == Scheme(key=KEY)
    again = winnow("index", pages, "--to", records)
    assert again.exit_code == 2
    assert "has records of a scheme with a secret key: name the file" in " ".join(again.stderr.split())
    clustered = winnow("cluster", "--records", records, "--key-file", key, "--json", "--quiet")
    assert json.loads(clustered.stdout)["pages"] == 3
    refused = winnow("cluster", "--records", records, "--quiet")
    assert refused.exit_code == 2
    assert "has a secret key: name the file that holds it with --key-file" in " ".join(refused.stderr.split())


def test_fingerprints_and_comparisons_of_files(winnow: Winnow, key: Path, pages: Path) -> None:
    text = pages / "0.txt"
    plain, keyed = (
        json.loads(winnow("fingerprint", text, "--json", *more).stdout) for more in ([], ["--key-file", key])
    )
    assert (plain["scheme"], keyed["scheme"]) == (Scheme().id, Scheme(key=KEY).id)
    hashes = [{hash_ for hash_, _ in each["fingerprints"]} for each in (plain, keyed)]
    assert all(hashes)
    assert not hashes[0] & hashes[1]
    arguments = ("compare", text, pages / "2.txt", "--json")
    assert winnow(*arguments, "--key-file", key).stdout == winnow(*arguments).stdout


@pytest.mark.check
def test_the_next_command_names_the_key_file(
    on_terminal: Callable[..., tuple[int, str]], key: Path, pages: Path, tmp_path: Path
) -> None:
    keyed = ("--store", "crawl.winnow", "--key-file", key.name)
    code, shown = on_terminal("winnow", "index", pages, *keyed, folder=tmp_path)
    assert code == 0
    assert "--store crawl.winnow --key-file key" in shown.split("→")[1]
    code, shown = on_terminal("winnow", "stats", "--store", "crawl.winnow", folder=tmp_path, WINNOW_KEY_FILE="key")
    assert code == 0
    assert "--key-file" not in shown.split("→")[1]


@pytest.mark.check
def test_names_of_watches_are_completed_with_the_key(process: Process, key: Path, pages: Path) -> None:
    keyed = ("--store", "crawl.winnow", "--key-file", key.name)
    assert process("index", pages, *keyed).returncode == 0
    assert process("watch", "add", "press", "--file", pages / "0.txt", *keyed).returncode == 0
    words = f"winnow watch remove {' '.join(keyed)} "
    done = process(_WINNOW_COMPLETE="bash_complete", COMP_WORDS=words, COMP_CWORD="7")
    assert b"press" in done.stdout
