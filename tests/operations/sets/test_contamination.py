from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings, strategies as st

from opensearch_winnow import WinnowError, contaminated
from opensearch_winnow.queries.spans import merged_spans
from opensearch_winnow.types import FieldNames
from tests.cython_core.reference import word_runs
from tests.operations.sets.json_lines import read_lines, words_of, write_lines

QUESTION = "Natalia sold clips to 48 of her friends in April, and then she sold half as many clips in May."
ANSWER = "She sold 24 clips in May, and altogether 72 clips in the two months of spring."
Rows = Sequence[Mapping[str, Any]]


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    return write_lines(tmp_path / "evals.jsonl", [{"id": "q1", "text": QUESTION}, {"id": "q2", "text": "Why?"}])


@pytest.fixture
def train(tmp_path: Path) -> Path:
    rows = [
        {"id": "a", "text": f"Solve this.\n\n{QUESTION.upper()} Thanks!", "n": 1},
        {"id": "b", "text": "A row about something else entirely, which no evaluation set has.", "n": 2},
        {"id": "a", "text": "", "n": 3},
        {"id": "c", "n": 4},
        {"id": "d", "text": QUESTION, "n": 5},
    ]
    return write_lines(tmp_path / "train.jsonl", rows)


texts = st.lists(st.sampled_from(["a", "B", "c.", "中"]), max_size=16).map(" ".join)
questions = st.lists(st.tuples(texts, st.none() | texts | st.lists(texts, max_size=3)), min_size=1, max_size=4)
WORDS, SHORTEST = 3, 2


def share_by_brute_force(text: str, row: str) -> float | None:
    """Return the share of the words of an evaluation text that are in a training row; None if it is too short."""
    if len(words_of(text)) < SHORTEST:
        return None
    runs = word_runs([words_of(text)], words_of(row), WORDS, SHORTEST)
    spans = merged_spans((other, other + end - start) for start, end, _, other in runs)
    return sum(end - start for start, end in spans) / len(words_of(text))


def largest(shares: Iterable[float | None]) -> float | None:
    return max((share for share in shares if share is not None), default=None)


@settings(max_examples=30)
@given(questions, st.lists(texts, max_size=5), st.sampled_from([0.0, 0.5, 1.0]))
def test_rows_are_those_of_brute_force(
    questions: list[tuple[str, str | list[str] | None]], rows: list[str], minimum: float
) -> None:
    """Two sets have the same rows, of which one is read with the field of the question alone."""
    fields = {"one.jsonl": ["question"], "both.jsonl": ["question", "choices"]}
    lists = [[choices] if isinstance(choices, str) else choices or [] for _, choices in questions]
    evaluation = [{"question": [q], "choices": choices} for (q, _), choices in zip(questions, lists, strict=True)]
    expected: list[tuple[int, float, dict[tuple[str, str], dict[str, float | None]]]] = []
    below = 0
    for number, row in enumerate(rows):
        found = {}
        for name, chosen in fields.items():
            for place, each in enumerate(evaluation):
                shares = {field: largest(share_by_brute_force(text, row) for text in each[field]) for field in chosen}
                if any(shares.values()):
                    found[name, str(place)] = shares
        enough = {key: shares for key, shares in found.items() if (largest(shares.values()) or 0) >= minimum}
        below += bool(found) and not enough
        if enough:
            kept = [(field, evaluation[int(place)]) for name, place in enough for field in fields[name]]
            counted = [text for field, each in kept for text in each[field]]
            runs = word_runs([words_of(text) for text in counted], words_of(row), WORDS, SHORTEST)
            words = sum(end - start for start, end in merged_spans((start, end) for start, end, *_ in runs))
            expected.append((number, words / len(words_of(row)), enough))
    with TemporaryDirectory() as folder:
        sets = {Path(folder, name): chosen for name, chosen in fields.items()}
        written = [{"id": i, "question": q, "choices": choices} for i, (q, choices) in enumerate(questions)]
        for path in sets:
            write_lines(path, [*written, {"id": "another", "question": "", "choices": ["a"]}])
        train = write_lines(Path(folder, "t.jsonl"), [{"id": "same", "text": each} for each in rows])
        result = contaminated(train, sets, words=WORDS, short=SHORTEST, min_containment=minimum)
    fields_of = [{(Path(e.set).name, e.id): dict(e.fields) for e in row.evaluation_rows} for row in result.found]
    assert [(row.row, row.share) for row in result.found] == [(row, share) for row, share, _ in expected]
    assert fields_of == [found for *_, found in expected]
    assert all(e.containment == largest(dict(e.fields).values()) for row in result.found for e in row.evaluation_rows)
    assert (result.rows, result.contaminated, result.below_containment) == (len(rows), len(expected), below)
    one, both = result.evaluation_sets
    assert one.rows == both.rows == len(questions) + 1
    for summary in (one, both):
        name = Path(summary.name).name
        assert summary.found == len({key for *_, found in expected for key in found if key[0] == name})
        lengths = [[len(words_of(text)) for field in fields[name] for text in row[field]] for row in evaluation]
        lengths.append([0] if summary is one else [0, 1])
        assert summary.unchecked == sum(all(length < SHORTEST for length in row) for row in lengths)
        assert summary.too_short == sum(any(length < SHORTEST for length in row) for row in lengths)
        assert summary.partly_checked == summary.too_short - summary.unchecked, "no row of these is without a text"
    found_alone = {(row.row, e.id) for row in result.found for e in row.evaluation_rows if e.set == one.name}
    found_in_both = {(row.row, e.id) for row in result.found for e in row.evaluation_rows if e.set == both.name}
    assert found_alone <= found_in_both, "another field takes no row away"


def test_a_text_that_is_too_short_is_counted_beside_one_that_is_not(tmp_path: Path) -> None:
    rows: Rows = [{"question": "Who owns the old mill?", "choices": [ANSWER, "Nobody."]}, {"question": QUESTION}]
    evals = write_lines(tmp_path / "evals.jsonl", rows)
    train = write_lines(tmp_path / "train.jsonl", [{"text": ANSWER}])
    result = contaminated(train, evals, eval_fields=["question", "choices"])
    (each,) = result.evaluation_sets
    assert (each.rows, each.too_short, each.unchecked, each.partly_checked) == (2, 1, 0, 1)
    counted = [(field.name, field.found, field.too_short, field.lacking) for field in each.fields]
    assert counted == [("question", 0, 1, 0), ("choices", 1, 1, 1)]
    assert dict(result.found[0].evaluation_rows[0].fields) == {"question": None, "choices": 1.0}
    (each,) = contaminated(train, evals, eval_fields="question").evaluation_sets
    assert (each.rows, each.too_short, each.unchecked, each.partly_checked) == (2, 1, 1, 0)


def test_sets_have_fields_of_their_own(tmp_path: Path) -> None:
    one = write_lines(tmp_path / "one.jsonl", [{"prompt": QUESTION}])
    two = write_lines(tmp_path / "two.jsonl", [{"question": ANSWER, "hint": QUESTION}])
    train = write_lines(tmp_path / "train.jsonl", [{"text": QUESTION}, {"text": ANSWER}])
    result = contaminated(train, {one: "prompt", two: ()}, eval_fields=["question"])
    found = [[(Path(e.set).name, e.id) for e in row.evaluation_rows] for row in result.found]
    assert found == [[(f"{name}.jsonl", f"{name}.jsonl#1")] for name in ("one", "two")]
    with pytest.raises(WinnowError, match=r"two.jsonl has no row with a text in the field prompt: .* question, hint;"):
        contaminated(train, [one, two], eval_fields=["prompt"])


def test_every_row_is_accounted_for_dropped_or_cut(train: Path, evals: Path, tmp_path: Path) -> None:
    result = contaminated(train, evals)
    assert (result.rows, result.contaminated, dict(result.failures)) == (5, 2, {"neither html nor text": 1})
    assert [(row.id, row.row) for row in result.found] == [("a", 0), ("d", 4)]
    (evaluation,) = result.evaluation_sets
    assert (evaluation.rows, evaluation.found, evaluation.too_short, evaluation.training_rows) == (2, 1, 1, 2)
    assert [(row.id, row.training_rows, row.containment) for row in evaluation.most] == [("q1", 2, 1.0)]
    result = contaminated(train, evals, clean=tmp_path / "clean.jsonl")
    kept = train.read_text().splitlines(keepends=True)[1:3]
    assert (tmp_path / "clean.jsonl").read_text() == "".join(kept), "byte for byte, without the row that has no text"
    assert (result.kept, result.cut) == (2, 0)
    result = contaminated(train, evals, clean=tmp_path / "clean.jsonl", cut=True, overwrite=True)
    rows = read_lines(tmp_path / "clean.jsonl")
    assert [row["n"] for row in rows] == [1, 2, 3], "the row that is only a question has nothing left"
    assert rows[0]["text"] == "Solve this.\n\n. Thanks!"
    assert (result.kept, result.cut) == (3, 1)
    assert contaminated(tmp_path / "clean.jsonl", evals).contaminated == 0


def test_other_formats_stay_what_they_are(evals: Path, tmp_path: Path) -> None:
    rows = [{"n": 1, "text": QUESTION}, {"n": 2, "text": "clean"}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "train.parquet")
    (tmp_path / "train.csv").write_text(f'n,text\n1,"{QUESTION}"\n2,clean\n')
    for name in ("train.parquet", "train.csv"):
        contaminated(tmp_path / name, evals, clean=tmp_path / f"clean-{name}")
    assert pq.read_table(tmp_path / "clean-train.parquet").to_pylist() == rows[1:]
    (row,) = csv.DictReader((tmp_path / "clean-train.csv").read_text().splitlines())
    assert row == {"n": "2", "text": "clean"}


def test_tables_have_rows_and_spans(train: Path, evals: Path, tmp_path: Path) -> None:
    result = contaminated(train, evals, to=tmp_path / "rows.jsonl", spans=tmp_path / "spans.jsonl")
    assert result.found == []
    place, shares = {"id": "d", "row": 4}, {"passages": 1, "words": 20, "share": 1.0, "containment": 1.0}
    of_eval = {"set": str(evals), "id": "q1", "containment": 1.0, "fields": [{"name": "", "containment": 1.0}]}
    found = {"set": str(evals), "evaluation_id": "q1", "evaluation_rows": [of_eval]}
    assert read_lines(tmp_path / "rows.jsonl")[1] == {**place, **shares, **found}
    contaminated(train, evals, to=tmp_path / "rows.parquet")
    assert pq.read_table(tmp_path / "rows.parquet").to_pylist() == read_lines(tmp_path / "rows.jsonl")
    texts = [row.get("text", "") for row in read_lines(train)]
    for span in read_lines(tmp_path / "spans.jsonl"):
        assert texts[span["row"]][span["start"] : span["end"]] == span["text"]
        assert QUESTION[span["other_start"] : span["other_end"]].upper() == span["text"].upper()


def test_each_field_of_an_evaluation_row_is_looked_for(tmp_path: Path) -> None:
    rows = [{"key": 7, "question": QUESTION, "answers": {"text": ["yes", ANSWER]}}, {"key": 8, "question": "What?"}]
    evals = write_lines(tmp_path / "evals.jsonl", rows)
    train = write_lines(tmp_path / "train.jsonl", [{"name": "x", "body_text": f"... {ANSWER} ..."}])
    names, spans = FieldNames(id="name", text="body_text"), tmp_path / "spans.jsonl"
    result = contaminated(train, evals, fields=names, eval_fields=["question", "answers"], eval_id="key", spans=spans)
    (row,) = result.found
    (found,) = row.evaluation_rows
    assert (row.id, found.id) == ("x", "7")
    assert dict(found.fields) == {"question": 0.0, "answers": 1.0}, "an answer of one word is not looked for"
    assert read_lines(spans)[0]["other_field"] == "answers"
    with pytest.raises(WinnowError, match="--eval-field"):
        contaminated(train, evals, fields=names)


def test_evaluation_sets_are_told_apart(evals: Path, tmp_path: Path) -> None:
    other = write_lines(tmp_path / "other.jsonl", [{"id": "q1", "text": ANSWER}])
    rows = [{"id": "a", "text": ANSWER}, {"id": "b", "text": f"{QUESTION} {ANSWER}"}]
    train = write_lines(tmp_path / "train.jsonl", rows)
    result = contaminated(train, [evals, other])
    counted = [(each.name, each.found, each.training_rows) for each in result.evaluation_sets]
    assert counted == [(str(evals), 1, 1), (str(other), 1, 2)]
    sets = [[each.set for each in row.evaluation_rows] for row in result.found]
    assert sets == [[str(other)], [str(evals), str(other)]]


def test_html_is_read_but_not_cut_and_a_cut_leaves_no_two_words_as_one(evals: Path, tmp_path: Path) -> None:
    train = write_lines(tmp_path / "train.jsonl", [{"id": "a", "html": f"<p>{QUESTION.replace(' ', '<b> </b>')}</p>"}])
    assert contaminated(train, evals).contaminated == 1
    with pytest.raises(WinnowError, match="is HTML, out of which no passage can be cut"):
        contaminated(train, evals, clean=tmp_path / "clean.jsonl", cut=True)
    assert not (tmp_path / "clean.jsonl").exists()
    question = " ".join(f"word{number}" for number in range(20))
    rows = write_lines(tmp_path / "rows.jsonl", [{"text": f"before—{question}—after"}])
    exam = write_lines(tmp_path / "exam.jsonl", [{"text": question}])
    contaminated(rows, exam, clean=tmp_path / "clean.jsonl", cut=True)
    assert read_lines(tmp_path / "clean.jsonl") == [{"text": "before— —after"}]


def test_an_old_file_is_kept_and_an_empty_set_refused(train: Path, evals: Path, tmp_path: Path) -> None:
    old = tmp_path / "old.jsonl"
    old.write_text("old")
    for option in ("to", "spans", "clean"):
        with pytest.raises(WinnowError, match=r"old\.jsonl exists.* name another.*, or add --overwrite"):
            contaminated(train, evals, **{option: old})  # type: ignore[arg-type]
        assert old.read_text() == "old"
        contaminated(train, evals, overwrite=True, **{option: old})  # type: ignore[arg-type]
        assert len(read_lines(old)) == 2
        old.write_text("old")
    (tmp_path / "empty.jsonl").touch()
    with pytest.raises(WinnowError, match="no text in the evaluation sets"):
        contaminated(train, tmp_path / "empty.jsonl")
