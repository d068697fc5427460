"""A key file holds one line; anything else is refused in a sentence that does not repeat it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.key_file import KEY_VARIABLE, MAX_KEY_BYTES, environment_key, with_key
from opensearch_winnow.foundation.scheme import Scheme
from tests.refused import refused


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(KEY_VARIABLE, str(tmp_path / "key"))
    return tmp_path / "key"


@pytest.mark.parametrize(
    ("content", "key"),
    [
        *[(b"open sesame" + end, "open sesame") for end in (b"", b"\n", b"\r\n")],
        (b" open  sesame \n", " open  sesame "),
        ("Öffne dich\n".encode(), "Öffne dich"),
        ("\ufeffopen sesame\n".encode(), "open sesame"),
        (b"x", "x"),
        (b"x" * (MAX_KEY_BYTES - 1) + b"\n", "x" * (MAX_KEY_BYTES - 1)),
    ],
)
def test_a_key_is_one_line(file: Path, content: bytes, key: str) -> None:
    file.write_bytes(content)
    assert environment_key() == key


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        *[(content, "is empty") for content in (b"", b"\n", b"\r\n", b" \n")],
        *[(content, "more than one line") for content in (b"sesame\nsesame\n", b"sesame\n\n", b"sesame\rsesame")],
        (b"sesame \xff\n", "is not UTF-8"),
        (b"sesame" * MAX_KEY_BYTES, "is larger than 4,096 bytes"),
    ],
)
def test_other_contents_are_refused(file: Path, content: bytes, complaint: str) -> None:
    file.write_bytes(content)
    with pytest.raises(FileError, match=complaint) as caught:
        environment_key()
    assert str(file) in str(caught.value)
    assert "sesame" not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None


def test_a_file_that_cannot_be_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refused(FileError, r"there is no key file .*\(--key-file or WINNOW_KEY_FILE\)", environment_key)
    os.mkfifo(file)
    for name in (file, file.parent):
        monkeypatch.setenv(KEY_VARIABLE, str(name))
        refused(FileError, "it is not a regular file", environment_key)
    monkeypatch.setenv(KEY_VARIABLE, "n" * 300)
    refused(FileError, r"there is no key file|cannot be read: File name too long", environment_key)


def test_without_the_variable_there_is_no_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KEY_VARIABLE, raising=False)
    assert environment_key() is None
    assert with_key(Scheme()) is not None
    assert with_key(Scheme()).key is None
    monkeypatch.setenv(KEY_VARIABLE, "")
    assert environment_key() is None


def test_what_is_given_wins(file: Path) -> None:
    assert with_key(Scheme(key="own"), "given").key == "given"
    assert with_key(Scheme(key="own")).key == "own"
    assert with_key(Scheme(), "given").key == "given"  # and the file, which is missing, is not read
    file.write_text("environment")
    assert with_key(Scheme(noise=20)) == Scheme(noise=20, key="environment")


@pytest.mark.parametrize(
    ("mode", "is_open"), [(0o600, False), (0o400, False), (0o640, True), (0o604, True), (0o622, True)]
)
def test_a_file_that_is_open_to_others_is_warned_of_once(
    file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch, mode: int, is_open: bool
) -> None:
    """Nobody else's can be closed with chmod, and whoever could no longer read it would not be helped."""
    file.write_text("open sesame")
    file.chmod(mode)
    assert environment_key() == environment_key() == "open sesame"
    assert [message.partition(". ")[2] for message in caplog.messages] == [f"To close it: chmod 600 {file}"] * is_open
    assert all(f"{file} is open to other users (mode {mode:o})" in message for message in caplog.messages)
    caplog.clear()
    monkeypatch.setattr(os, "geteuid", lambda: file.stat().st_uid + 1)
    assert environment_key() == "open sesame"
    assert caplog.messages == []
