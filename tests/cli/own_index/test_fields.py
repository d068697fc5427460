"""winnow fields adds fields to documents in a pipe, and leaves nothing half-written."""

from __future__ import annotations

import gzip
import json
import signal
from pathlib import Path
from subprocess import PIPE

import pytest

from opensearch_winnow import Scheme
from opensearch_winnow.clients import mapping_fragment, winnow_fields
from tests.cli.conftest import Process, Winnow, started, wait_until
from tests.meaningless_text import sentences


def made(count: int) -> bytes:
    lines = (json.dumps({"id": number, "body": sentences(80, number)}) for number in range(count))
    return "".join(f"{line}\n" for line in lines).encode()


def test_documents_in_a_pipe(process: Process) -> None:
    done = process("fields", "--text", "body", stdin=made(30))
    assert (done.returncode, done.stderr) == (0, b"")
    documents = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in documents] == list(range(30))
    assert documents[7]["winnow"] == {"stamp": Scheme().id, **winnow_fields(sentences(80, 7))}


def test_each_document_comes_out_before_the_next_one_comes_in(tmp_path: Path) -> None:
    with started(tmp_path, "fields", "--text", "body", stdin=PIPE) as running:
        assert running.stdin
        assert running.stdout
        for line in made(3).splitlines(keepends=True):
            running.stdin.write(line)
            running.stdin.flush()
            assert running.stdout.readline().startswith(line.rstrip()[:-1])
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130


def test_nothing_is_left_of_a_stopped_run(tmp_path: Path) -> None:
    with started(tmp_path, "fields", "--text", "body", "--to", "out.jsonl.gz", stdin=PIPE) as running:
        assert running.stdin
        assert running.stderr
        running.stdin.write(made(3))
        running.stdin.flush()
        wait_until(lambda: list(tmp_path.iterdir()), running)
        running.send_signal(signal.SIGINT)
        assert running.wait(60) == 130
        assert running.stderr.read() == b"Stopped: nothing was written.\n"
    assert list(tmp_path.iterdir()) == []


def test_compressed_files_to_a_compressed_file(winnow: Winnow, tmp_path: Path) -> None:
    content = made(6).removesuffix(b"\n")  # a file may end without a line break
    one, two, out = tmp_path / "one.jsonl.gz", tmp_path / "two.jsonl", tmp_path / "out.jsonl.gz"
    one.write_bytes(gzip.compress(content))
    two.write_bytes(content)
    answer = winnow.json("fields", one, two, "--text", "body", "--to", out)
    zeros = dict.fromkeys(("no_text", "unaffected", "partial", "failed", "times_unread"), 0)
    assert answer == {"scheme": Scheme().id, "documents": 12, "done": 12, **zeros}
    assert [json.loads(line)["id"] for line in gzip.decompress(out.read_bytes()).splitlines()] == [*range(6), *range(6)]
    assert "--overwrite" in winnow.refused("fields", two, "--to", out)
    winnow.refused("fields", two, "--to", two, "--overwrite")


def test_lines_that_are_no_documents(winnow: Winnow, tmp_path: Path) -> None:
    rows, bad, out = tmp_path / "rows.jsonl", tmp_path / "bad.jsonl", tmp_path / "out.jsonl"
    rows.write_bytes(b'nonsense\n{"text": "words"}\n[3]')
    done = winnow("fields", rows)
    assert done.exit_code == 1
    assert [line[:9] for line in done.stdout.splitlines()] == ["nonsense", '{"text": ', "[3]"]
    assert f"{rows}, line 1: not JSON\n{rows}, line 3: not a JSON object\n2 documents" in done.stderr
    assert winnow("fields", rows, "--failed", bad, "--to", out).exit_code == 1
    assert (bad.read_bytes(), out.read_bytes().count(b"\n")) == (b"nonsense\n[3]\n", 1)


@pytest.mark.parametrize("bulk", [False, True])
def test_a_line_that_is_not_utf8_is_a_bad_line(process: Process, tmp_path: Path, bulk: bool) -> None:
    good, bad = b'{"body": "words"}\n', b'{"body": "caf\xe9"}\n'
    action = b'{"index": {}}\n' * bulk
    content = b"".join((action, good, action, bad, action, good))
    options = ["fields", "--text", "body", *["--bulk"] * bulk]
    done = process(*options, stdin=content)
    number, lines = (4, done.stdout.splitlines()[1::2]) if bulk else (2, done.stdout.splitlines())
    assert (done.returncode, lines[1]) == (1, bad.rstrip())
    assert [b'"winnow"' in line for line in lines] == [True, False, True]
    said = done.stderr.decode().splitlines()
    assert (said[0], said[1].split(":")[0]) == (f"line {number}: not UTF-8", "1 document that cannot be read")
    assert said[2] == f"3 documents: 2 with fields, 0 without text, 1 failed; scheme {Scheme().id}"
    out = tmp_path / "bad.jsonl"
    done = process(*options, "--failed", str(out), stdin=content)
    assert (done.returncode, out.read_bytes()) == (1, action + bad)
    assert done.stdout.count(b'"winnow"') == 2


def test_the_end_says_what_has_no_fields(process: Process, tmp_path: Path) -> None:
    content = made(2) + b'{"id": 3}\n'
    said = f"3 documents: 2 with fields, 1 without text, 0 failed; scheme {Scheme().id}\n".encode()
    assert process("fields", "--text", "body", stdin=content).stderr == said
    done = process("fields", "--text", "body", "--to", str(tmp_path / "out"), stdin=made(2))
    assert (done.returncode, done.stdout) == (0, b"")
    assert done.stderr.startswith(b"2 documents: 2 with fields, 0 without text, 0 failed")
    update = b'{"update": {"_id": "1"}}\n{"doc": {"likes": 2}}\n{"index": {}}\n{}\n'
    assert b"1 failed" not in (said := process("fields", "--bulk", stdin=update).stderr)
    assert b"2 documents: 0 with fields, 1 without text, 0 failed, 1 update of other fields;" in said


def test_json_lines_are_no_bulk_body(process: Process) -> None:
    done = process("fields", "--bulk", "--text", "body", stdin=made(3))
    assert (done.returncode, done.stdout) == (1, made(3))
    assert done.stderr.count(b"Is this a _bulk body? For JSON lines, leave out --bulk.\n") == 1
    assert b"Is this" not in process("fields", "--text", "body", stdin=b"nonsense\n").stderr


def test_an_output_appears_when_it_is_complete(winnow: Winnow, tmp_path: Path) -> None:
    cut, out = tmp_path / "cut.jsonl.gz", tmp_path / "out.jsonl"
    cut.write_bytes(gzip.compress(made(2000))[:-20_000])
    out.write_text("old")
    said = winnow.refused("fields", cut, "--text", "body", "--to", out, "--overwrite")
    assert f"{cut} cannot be read to its end" in said
    assert (sorted(tmp_path.iterdir()), out.read_text()) == ([cut, out], "old")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "in.jsonl").write_bytes(made(5))
    with (
        Path("/dev/full").open("wb") as full,
        started(tmp_path, "fields", "in.jsonl", "--text", "body", stdout=full.fileno()) as run,
    ):
        said = run.communicate(timeout=60)[1]
    assert (run.returncode, said) == (2, b"Error: No space left on device: the output\n")


def test_no_document_has_a_text(process: Process) -> None:
    done = process("fields", "--text", "boddy", stdin=made(2))
    assert done.returncode == 1
    assert [json.loads(line)["winnow"]["fingerprints"] for line in done.stdout.splitlines()] == [""] * 2
    assert b"No document has a text in boddy: name the field with --text" in done.stderr
    assert process("fields").returncode == 0


def test_times_are_read_by_the_format_or_counted(winnow: Winnow, tmp_path: Path) -> None:
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_bytes(b'{"text": "One.", "at": "31.12.2024"}\n{"text": "Two.", "at": 1735603200}\n{"text": "Three."}\n')
    options = ["fields", file, "--time", "at", "--to", out, "--overwrite"]
    said = winnow(*options).stderr
    assert "1 document has a time in at that cannot be read" in said
    assert "--time-format" in said
    assert winnow.json(*options, "--time-format", "dd.MM.yyyy||epoch_second")["times_unread"] == 0
    times = [json.loads(line)["winnow"].get("fetched_at") for line in out.read_bytes().splitlines()]
    assert times == ["2024-12-31T00:00:00Z", "2024-12-31T00:00:00Z", None]
    refused = winnow.refused(*options, "--time-format", "week_date||epoch_second")
    assert "winnow does not know week_date" in refused


def test_the_mapping_has_all_fields(process: Process) -> None:
    printed = json.loads(process("fields", "--mapping", "--below", "copies").stdout)
    ours = printed["properties"]["copies"]["properties"]
    assert mapping_fragment()["properties"].items() <= ours.items()
    document = process("fields", "--text", "body", "--url", "id", "--time", "id", "--id", "id", stdin=made(1)).stdout
    assert {*json.loads(document)["winnow"], "cluster"} <= ours.keys()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--below", "a.b"], "'a.b' is not a plain name"),
        (["--bulk", "--id", "id"], "id is for JSON lines"),
        (["--json"], "both want stdout"),
        (["nowhere.jsonl"], "there is no file nowhere.jsonl"),
    ],
)
def test_what_cannot_be_done(winnow: Winnow, options: list[str], message: str) -> None:
    assert message in winnow.refused("fields", *options, stdin=b"{}")
