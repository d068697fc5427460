from __future__ import annotations

import gzip
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from opensearch_winnow.ingest.sources import SourceError, Sources, piped
from tests.ingest.sources.archives import items, outcomes, record, urls

HTML = b"<!doctype html><title>A page</title><p>of words"
LINE = b'{"url": "https://example.org/line", "text": "words"}\n'


@pytest.fixture
def pipe(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[bytes], None]:
    """A function that replaces standard input. Temporary files go to `tmp_path`."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return lambda content: monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


@pytest.mark.parametrize(
    ("content", "url"),
    [
        (LINE, "https://example.org/line"),
        (gzip.compress(LINE), "https://example.org/line"),
        (record("https://example.org/archived"), "https://example.org/archived"),
        *((content, "file:///dev/stdin") for content in (HTML, b"words")),
    ],
    ids=["JSON lines", "gzip", "WARC", "HTML", "text"],
)
def test_standard_input_may_have_any_format(
    tmp_path: Path, pipe: Callable[[bytes], None], content: bytes, url: str
) -> None:
    pipe(content)
    assert outcomes(items("-", "-")) == {url: "page"}
    assert not list(tmp_path.iterdir())


def test_the_urls_of_standard_input(pipe: Callable[[bytes], None]) -> None:
    pipe(LINE + b"not json")
    failed = f"file:///dev/stdin#byte={len(LINE)}"
    assert outcomes(items("-", "-")) == {"https://example.org/line": "page", failed: "not JSON"}
    pipe(HTML)
    assert urls(items("-", base="https://example.org/a?b=c")) == ["https://example.org/a?b=c"]


def test_the_temporary_file_is_always_removed(tmp_path: Path, pipe: Callable[[bytes], None]) -> None:
    for content, others, said in (
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", [], "^standard input is image/png: pages are read from"),
        (b"", [], "^standard input is empty$"),
        (HTML, ["gone"], "^there is no file or folder gone$"),
    ):
        pipe(content)
        with pytest.raises(SourceError, match=said):
            Sources(["-", *others])
    pipe(HTML)
    with Sources(["-"], max_piped=len(HTML)) as sources:
        assert sources.size == len(HTML)
        assert list(tmp_path.rglob("*"))
    assert not list(tmp_path.iterdir())
    sources.close()


def test_a_terminal_is_not_read(on_terminal: Callable[..., tuple[int, str]]) -> None:
    script = "from opensearch_winnow.ingest.sources import Sources; Sources(['-'])"
    code, said = on_terminal(sys.executable, "-c", script)
    assert code == 1
    assert "- reads from a pipe, but nothing is piped in" in said


def test_a_named_pipe_is_read(tmp_path: Path) -> None:
    script = (
        "import sys\nfrom opensearch_winnow.ingest.sources import Sources\n"
        "from opensearch_winnow.ingest.sources.reading import read\n"
        "from opensearch_winnow.ingest.sources.splits import splits\n"
        "with Sources(sys.argv[1:]) as sources:\n"
        "    print([item.url for split in splits(sources, 9) for _, item in read(split, 999) if item])"
    )
    (tmp_path / "lines").write_bytes(LINE)
    bash = f'"{sys.executable}" -c "$0" <(cat "{tmp_path}/lines") "{tmp_path}/lines"'
    done = subprocess.run(["bash", "-c", bash, script], capture_output=True, check=True)
    assert json.loads(done.stdout.replace(b"'", b'"')) == ["https://example.org/line"] * 2


class Endless(io.RawIOBase):
    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        return len(buffer)


def test_a_pipe_that_never_ends(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(Endless())))
    with pytest.raises(SourceError, match=r"^standard input has over 3,000,000 bytes.* --max-stdin$"):
        Sources(["-"], max_piped=3_000_000)
    assert not list(tmp_path.iterdir())


def test_a_named_pipe_without_a_writer_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(piped, "MAX_PIPE_WAIT_SECONDS", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SourceError, match=r"/pipe is a named pipe, and nothing was written to it in 0\.1 s"):
        Sources([str(tmp_path / "pipe")])
