"""The command in a process of its own: exit codes, streams, signals, and files that are not text."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from opensearch_winnow import __version__
from tests.cli.conftest import MILL, WINNOW, Process, Prose, started

pytestmark = pytest.mark.check


def complaint(done: subprocess.CompletedProcess[bytes]) -> str:
    """Return the message of a failed command, which is on stderr only and no traceback."""
    message = done.stderr.decode()
    assert (done.returncode, done.stdout, "Error: " in message, "Traceback" in message) == (2, b"", True, False)
    return message


def test_version_and_help(process: Process) -> None:
    assert process("--version").stdout.decode() == f"winnow {__version__}\n"
    module = [sys.executable, "-m", "opensearch_winnow", "--version"]
    assert subprocess.run(module, capture_output=True, check=True).stdout.decode() == f"winnow {__version__}\n"
    assert process("--help").returncode == 0


def test_a_command_is_imported_when_it_is_called(process: Process) -> None:
    imported = process("fingerprint", "-", stdin=b"x", PYTHONPROFILEIMPORTTIME="1").stderr.decode()
    assert "opensearch_winnow.cli.text_file" in imported
    assert not [name for name in ("cli.side_by_side", "cli.compare_html", "tempfile") if name in imported]


@pytest.mark.parametrize(
    ("code", "files"), [(0, ["a.txt", "b.txt"]), (1, ["a.txt", "none.txt"]), (2, ["a.txt", "gone.txt"])]
)
def test_exit_codes_are_those_of_grep(process: Process, pair: tuple[Path, Path], code: int, files: list[str]) -> None:
    pair[0].with_name("none.txt").write_text("")
    assert process("compare", *files).returncode == code


def test_files_that_cannot_be_read(process: Process, tmp_path: Path) -> None:
    (tmp_path / "latin.txt").write_bytes("first\nsecond caf\xe9".encode("latin-1"))
    (tmp_path / "wide.txt").write_bytes("wide".encode("utf-16"))
    (tmp_path / "program").write_bytes(b"\x7fELF\0\0\xff\xfe")
    assert "no file gone.txt" in complaint(process("fingerprint", "gone.txt"))
    assert "is a folder; name a file in it" in complaint(process("fingerprint", "."))
    latin = complaint(process("fingerprint", "latin.txt"))
    assert "latin.txt is not UTF-8 text: byte 16 (0xe9, in line 2)" in latin
    assert "iconv -f WINDOWS-1252 -t UTF-8 latin.txt" in latin
    assert "iconv -f UTF-16" in complaint(process("fingerprint", "wide.txt"))
    assert "binary file" in complaint(process("fingerprint", "program"))
    assert "the piped input is not UTF-8" in complaint(process("fingerprint", "-", stdin=b"\xff"))
    if os.geteuid():  # root may read everything
        (tmp_path / "secret").touch(mode=0)
        assert "secret cannot be read: Permission denied" in complaint(process("fingerprint", "secret"))


def test_control_characters_in_file_names_are_replaced(process: Process) -> None:
    message = process("fingerprint", b"\x1b[31mred\xff\xe2\x80\xae").stderr.decode()
    assert "␛[31mred" in message
    assert "\x1b" not in message
    assert "\u202e" not in message


def test_a_file_that_is_a_pipe_or_empty_or_has_nuls(process: Process, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    (tmp_path / "nuls").write_bytes(b"\0" * 1000)
    for name in ("empty", "nuls"):
        done = process("fingerprint", name)
        assert (done.returncode, b"0 canonical characters" in done.stderr) == (1, True)
    assert process("fingerprint", "/dev/stdin", stdin=b"many words " * 20).returncode == 0


def test_usage_errors(process: Process, pair: tuple[Path, Path]) -> None:
    assert "No such command" in complaint(process("winnow"))
    assert "--nosie" in complaint(process("compare", *pair, "--nosie", "3"))
    assert "'poems' is not one of" in complaint(process("compare", *pair, "--preset", "poems"))
    assert "guarantee is at least noise" in complaint(process("compare", *pair, "--noise", "500"))


def test_html_that_cannot_be_written(process: Process, pair: tuple[Path, Path]) -> None:
    before = pair[1].read_bytes()
    assert "would overwrite an input" in complaint(process("compare", *pair, "--html", "b.txt"))
    assert pair[1].read_bytes() == before
    assert "cannot be written" in complaint(process("compare", *pair, "--html", "no/such/folder.html"))


def test_a_closed_pipe_is_quiet(tmp_path: Path, prose: Prose) -> None:
    (tmp_path / "long.txt").write_text(prose(100_000))
    whole = 'set -o pipefail; "$0" fingerprint long.txt | head -n 2'
    done = subprocess.run(["bash", "-c", whole, WINNOW], cwd=tmp_path, capture_output=True, check=False)
    assert (done.stdout.count(b"\n"), done.stderr, done.returncode) == (2, b"", 128 + signal.SIGPIPE)


@pytest.mark.parametrize(
    "command",
    [
        *("compare a.txt b.txt", "compare a.txt b.txt --json", "demo --pages 20 -q", "compare -h", "--help"),
        *(f"similar {MILL}", "search the", "stats", "stats --json", f"compare {MILL} http://mirror.example/mill"),
        *("export --to -", "fields a.txt"),
    ],
)
def test_a_pipe_that_was_closed_before_the_start_is_quiet_too(
    pair: tuple[Path, Path], crawl: Path, command: str
) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    settings = {"TMPDIR": str(crawl.parent), "WINNOW_STORE": str(crawl)}
    if command.startswith("fields"):
        pair[0].write_text('{"text": "One."}\n' * 9)
    with started(crawl.parent, *command.split(), stdout=writing, environment=settings) as run:
        os.close(writing)
        assert run.communicate()[1] == b""
    assert run.returncode == (1 if command == "--help" else 128 + signal.SIGPIPE)  # click itself exits with 1


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="/dev/full was not found: it plays the full disk")
def test_a_full_disk_is_reported(pair: tuple[Path, Path]) -> None:
    whole = '"$0" compare "$1" "$2" > /dev/full'
    done = subprocess.run(["bash", "-c", whole, WINNOW, *pair], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"Error: No space left on device: the output\n")


def test_ctrl_c_is_quiet(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with started(tmp_path, "fingerprint", pipe) as run, pipe.open("wb"):  # opening blocks until the command reads
        run.send_signal(signal.SIGINT)
        out, err = run.communicate(timeout=20)
    assert (run.returncode, out, err) == (130, b"", b"")


def test_output_that_is_not_utf_8(process: Process, tmp_path: Path) -> None:
    (tmp_path / "greek.txt").write_text("πολλές λέξεις " * 20)
    done = process("fingerprint", "greek.txt", "--color", "always", PYTHONIOENCODING="latin-1")
    assert (done.returncode, b"???" in done.stdout) == (0, True)


def test_completion_completes(process: Process) -> None:
    def complete(words: str, at: str) -> list[str]:
        settings = {"_WINNOW_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": at}
        return [line.partition(",")[2] for line in process(**settings).stdout.decode().splitlines()]

    for shell in ("bash", "zsh", "fish"):
        script = process("completion", shell)
        assert (script.returncode, b"_WINNOW_COMPLETE" in script.stdout) == (0, True)
    assert complete("winnow co", "1") == ["compare", "contaminated", "completion"]
    assert complete("winnow fingerprint --selection m", "3") == ["mod-minimizer", "mod-p"]
    assert complete("winnow compare --pre", "2") == ["--preset"]
