"""Differences are found, intended ones are accepted, and one that no longer occurs is not."""

from __future__ import annotations

from pathlib import Path

from tests.recorded_answers.recording import Difference, compact, differences, read, renamed, without, write

LONG = [{"scored": "resemblance", "score": 1 / 3, "at": number} for number in range(9)]
RECORDED = {"json: a": compact({"scored": 1, "pages": LONG}), "json: b": {"pages": 2}, "sets: c": [1.5]}


def test_a_recording_is_read_as_it_was_written(tmp_path: Path) -> None:
    write("some", RECORDED, tmp_path)
    assert read("some", tmp_path) == RECORDED
    assert [path.name for path in sorted((tmp_path / "some").iterdir())] == ["json.jsonl", "sets.jsonl"]


def test_every_value_counts() -> None:
    assert differences(RECORDED, RECORDED) == []
    later = [*LONG[:8], {**LONG[8], "at": 9}]  # is only in the digest
    (question, line) = differences(RECORDED, RECORDED | {"json: a": compact({"scored": 1, "pages": later})})
    assert question == "json: a"
    assert "pages.digest" in line
    assert differences(RECORDED, {}) == [f"no longer a question: {question}" for question in sorted(RECORDED)]
    assert differences({}, {"json: b": 1}) == ["not recorded: json: b"]


def test_a_renamed_key_is_one_intended_difference() -> None:
    rows = [{("measure" if key == "scored" else key): value for key, value in row.items()} for row in LONG]
    today = RECORDED | {"json: a": compact({"measure": 1, "pages": rows})}
    intended = Difference("a better word", "json:*", recorded=renamed("scored", "measure"))
    assert differences(RECORDED, today)
    assert differences(RECORDED, today, [intended]) == []
    gone = "this intended difference does not occur, remove it: json:*: a better word"
    assert differences(RECORDED, RECORDED | {"json: a": {"pages": 2}}, [intended])
    assert differences(today, today, [intended]) == [gone]


def test_a_new_key_is_an_intended_difference_of_today() -> None:
    today = RECORDED | {"json: b": {"pages": 2, "sites": 1}}
    assert differences(RECORDED, today, [Difference("more", "json: b", today=without("sites"))]) == []
    assert len(differences(RECORDED, RECORDED, [Difference("more", "json: b", today=without("sites"))])) == 1
