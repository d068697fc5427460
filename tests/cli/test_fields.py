"""winnow fields adds fields to documents in a pipe, and leaves nothing half-written."""

from __future__ import annotations

import gzip
import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from opensearch_winnow import Scheme, mapping_fragment, winnow_fields
from tests.cli.conftest import CLEAN, WINNOW, sentences

Winnow = Callable[..., Result]
Process = Callable[..., subprocess.CompletedProcess[bytes]]


def made(count: int) -> bytes:
    lines = (json.dumps({"id": number, "body": sentences(80, number)}) for number in range(count))
    return "".join(f"{line}\n" for line in lines).encode()


def test_documents_in_a_pipe(process: Process) -> None:
    done = process("fields", "--text", "body", stdin=made(30))
    assert (done.returncode, done.stderr) == (0, b"")
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in documents] == list(range(30))
    expected = winnow_fields(sentences(80, 7))
    assert documents[7]["winnow"] == {"stamp": Scheme().id, **expected}
    assert process("fields", "--text", "body", "--workers", "3", stdin=made(30)).stdout == done.stdout


def test_each_document_comes_out_before_the_next_one_comes_in(tmp_path: Path) -> None:
    for workers in "12":
        command = [str(WINNOW), "fields", "--text", "body", "--workers", workers]
        with subprocess.Popen(command, stdin=-1, stdout=-1, env=CLEAN, cwd=tmp_path) as running:
            assert running.stdin
            assert running.stdout
            for line in made(3).splitlines(keepends=True):
                running.stdin.write(line)
                running.stdin.flush()
                assert running.stdout.readline().startswith(line.rstrip()[:-1])
            running.send_signal(signal.SIGINT)
            assert running.wait(30) == 130


def test_nothing_is_left_of_a_stopped_run(tmp_path: Path) -> None:
    command = [str(WINNOW), "fields", "--text", "body", "--to", "out.jsonl.gz", "--workers", "2"]
    with subprocess.Popen(command, stdin=-1, stderr=-1, env=CLEAN, cwd=tmp_path) as running:
        assert running.stdin
        assert running.stderr
        running.stdin.write(made(3))
        running.stdin.flush()
        while not list(tmp_path.iterdir()):
            time.sleep(0.05)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr.read() == b"Stopped: nothing was written.\n"
    assert list(tmp_path.iterdir()) == []


def test_compressed_files_to_a_compressed_file(winnow: Winnow, tmp_path: Path) -> None:
    content = made(6).removesuffix(b"\n")  # a file may end without a line break
    one, two, out = tmp_path / "one.jsonl.gz", tmp_path / "two.jsonl", tmp_path / "out.jsonl.gz"
    one.write_bytes(gzip.compress(content))
    two.write_bytes(content)
    done = winnow("fields", one, two, "--text", "body", "--to", out, "--json")
    assert done.exit_code == 0
    assert json.loads(done.stdout) == {
        "scheme": Scheme().id,
        "documents": 12,
        "done": 12,
        **dict.fromkeys(("no_text", "unaffected", "partial", "failed"), 0),
    }
    assert [json.loads(line)["id"] for line in gzip.decompress(out.read_bytes()).splitlines()] == [*range(6), *range(6)]
    refused = winnow("fields", two, "--to", out)
    assert refused.exit_code == 2
    assert "--overwrite" in refused.stderr
    assert winnow("fields", two, "--to", two, "--overwrite").exit_code == 2


def test_lines_that_are_no_documents(winnow: Winnow, tmp_path: Path) -> None:
    rows, bad, out = tmp_path / "rows.jsonl", tmp_path / "bad.jsonl", tmp_path / "out.jsonl"
    rows.write_bytes(b'nonsense\n{"text": "words"}\n[3]')
    done = winnow("fields", rows)
    assert done.exit_code == 1
    assert [line[:9] for line in done.stdout.splitlines()] == ["nonsense", '{"text": ', "[3]"]
    assert f"{rows}, line 1: not JSON\n{rows}, line 3: not a JSON object\n2 documents" in done.stderr
    done = winnow("fields", rows, "--failed", bad, "--to", out)
    assert done.exit_code == 1
    assert bad.read_bytes() == b"nonsense\n[3]\n"
    assert len(out.read_bytes().splitlines()) == 1


def test_an_output_appears_when_it_is_complete(winnow: Winnow, tmp_path: Path) -> None:
    cut, out = tmp_path / "cut.jsonl.gz", tmp_path / "out.jsonl"
    cut.write_bytes(gzip.compress(made(2000))[:-20_000])
    out.write_text("old")
    done = winnow("fields", cut, "--text", "body", "--to", out, "--overwrite")
    assert done.exit_code == 2
    assert f"{cut} cannot be read to its end: gzip that is cut off" in done.stderr
    assert sorted(tmp_path.iterdir()) == [cut, out]
    assert out.read_text() == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [str(WINNOW), "fields", "--text", "body"]
        done = subprocess.run(command, input=made(5), stdout=full, stderr=-1, env=CLEAN, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr) == (2, b"Error: No space left on device: the output\n")


def test_a_reader_that_has_gone(tmp_path: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [str(WINNOW), "fields", "--text", "body"]
    done = subprocess.run(command, input=made(5), stdout=writer, stderr=-1, env=CLEAN, cwd=tmp_path, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (141, b"")


def test_no_document_has_a_text(process: Process) -> None:
    done = process("fields", "--text", "boddy", stdin=made(2))
    assert (done.returncode, done.stdout) == (1, made(2))
    assert b"No document has a text in boddy: name the field with --text" in done.stderr
    assert process("fields").returncode == 0


def test_the_mapping_has_all_fields(process: Process) -> None:
    printed = json.loads(process("fields", "--mapping", "--below", "copies").stdout)
    ours = printed["properties"]["copies"]["properties"]
    assert mapping_fragment()["properties"].items() <= ours.items()
    document = process("fields", "--text", "body", "--url", "id", "--time", "id", "--id", "id", stdin=made(1)).stdout
    assert {*json.loads(document)["winnow"], "cluster"} <= ours.keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--below", "a.b"], "--below is a plain name"),
        (["--bulk", "--id", "id"], "--id is for JSON lines"),
        (["--json"], "both want stdout"),
        (["nowhere.jsonl"], "there is no file nowhere.jsonl"),
    ],
)
def test_what_cannot_be_done(winnow: Winnow, options: list[str], message: str) -> None:
    done = winnow("fields", *options, stdin=b"{}")
    assert done.exit_code == 2
    assert message in done.stderr
