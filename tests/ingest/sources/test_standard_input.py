from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opensearch_winnow.ingest.sources import SourceError, Sources, piped

LINE = b'{"url": "https://example.org/line", "text": "words"}\n'


def test_a_terminal_is_not_read(on_terminal: Callable[..., tuple[int, str]]) -> None:
    code, said = on_terminal(
        sys.executable, "-c", "from opensearch_winnow.ingest.sources import Sources; Sources(['-'])"
    )
    assert code == 1
    assert "- reads from a pipe, but nothing is piped in: name a file or a folder" in said


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom opensearch_winnow.ingest.sources import Sources, read\n"
        "with Sources(sys.argv[1:]) as sources:\n"
        "    print([item.url for split in sources.splits(9) for _, item in read(split, 999) if item])"
    )
    (tmp_path / "lines").write_bytes(LINE)
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -c "$0" <(cat "{tmp_path}/lines") "{tmp_path}/lines"', script],
        capture_output=True,
        check=True,
    )
    assert json.loads(done.stdout.replace(b"'", b'"')) == ["https://example.org/line"] * 2


class Endless(io.RawIOBase):
    """A pipe that never ends."""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return len(buffer)


def test_a_pipe_that_never_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    said = r"^standard input has over 3,000,000 bytes, the most that is kept in a temporary file: .* --max-stdin$"
    with pytest.raises(SourceError, match=said):
        Sources(["-"], max_piped=3_000_000)
    assert not list(tmp_path.iterdir())


def test_as_much_as_is_allowed_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(LINE)))
    with Sources(["-"], max_piped=len(LINE)) as piped:
        assert piped.size == len(LINE)


def test_a_named_pipe_without_a_writer_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piped, "MAX_PIPE_WAIT_SECONDS", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match=r"/pipe is a named pipe, and nothing was written to it in 0\.1 s"):
        Sources([str(tmp_path / "pipe")])


def test_devices_are_refused() -> None:
    with pytest.raises(SourceError, match=r"^/dev/zero is neither a file nor a folder"):
        Sources(["/dev/zero"])
