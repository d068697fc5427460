from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

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
