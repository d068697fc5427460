"""Repeated passages of files: every row is written, dropped or failed, and all outputs agree."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.rows import FieldNames
from opensearch_winnow.operations.sets import passage_files
from opensearch_winnow.operations.sets.passage_run import repeated_passages
from tests.operations.sets.json_lines import read_lines, write_lines

NOTICE = "All rights reserved; no part of this may be copied without the written consent of its owner"
ROWS: list[dict[str, Any]] = [
    {"id": "a", "url": "http://a.example/", "text": f"First. {NOTICE}. Äpfel"},
    {"id": 7, "text": f"日本語、{NOTICE.upper()}日本語", "more": [1, None]},
    {"id": "c", "text": f"  {NOTICE}!\n"},
    {"id": "d", "text": ""},
    {"id": "e"},
    {"id": "f", "text": "…"},
]


def test_later_or_all_occurrences_are_cut(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", ROWS)
    result = repeated_passages(source, tmp_path / "out.jsonl", words=10)
    without_words_before = ROWS[5]
    cut = {**ROWS[1], "text": "日本語、 日本語"}
    assert read_lines(tmp_path / "out.jsonl") == [ROWS[0], cut, ROWS[3], without_words_before]
    assert (result.rows, result.kept, result.dropped, result.failed) == (6, 4, 1, 1)
    assert (result.passages, result.rows_with_passages) == (2, 2)
    assert result.characters_in_passages == 2 * len(NOTICE)
    assert json.loads(json.dumps(result.to_dict()))["failed"] == 1
    repeated_passages([source], tmp_path / "every.jsonl", words=10, documents=3, occurrences="every")
    texts = [row["text"] for row in read_lines(tmp_path / "every.jsonl")]
    assert texts == ["First. . Äpfel", "日本語、 日本語", "", "…"]
    repeated_passages([source], tmp_path / "same.jsonl", words=10, documents=4, occurrences="every")
    assert read_lines(tmp_path / "same.jsonl") == [row for row in ROWS if "text" in row]


@pytest.mark.parametrize("name", ["spans.jsonl", "spans.jsonl.gz", "spans.parquet"])
def test_passages_are_listed(tmp_path: Path, name: str) -> None:
    source = write_lines(tmp_path / "in.jsonl", ROWS)
    result = repeated_passages(source, spans=tmp_path / name, words=10, occurrences="every")
    table = tmp_path / name
    listed = pq.read_table(table).to_pylist() if name.endswith(".parquet") else read_lines(table)
    places = enumerate((("http://a.example/", 7), ("7", 4), ("c", 2)))
    assert listed == [
        {"row": row, "id": id_, "start": start, "end": start + len(NOTICE), "count": 3} for row, (id_, start) in places
    ]
    assert (result.kept, result.dropped, result.failed) == (4, 1, 1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in.jsonl", name]


def test_attributes_are_aligned_with_the_sources(tmp_path: Path) -> None:
    write_lines(tmp_path / "in" / "one.jsonl", ROWS[:2])
    with gzip.open(tmp_path / "in" / "two.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(row) + "\n" for row in ROWS[2:5])
    pq.write_table(pa.table({"id": ["x"], "text": [NOTICE]}), tmp_path / "in" / "zwei.parquet")
    repeated_passages(tmp_path / "in", attributes=tmp_path / "attributes", words=10)
    length = len(NOTICE)

    def line(row_id: object, *spans: list[int]) -> dict[str, Any]:
        return {"id": row_id, "attributes": {"repeated_passages": [*spans]}}

    folder = tmp_path / "attributes"
    assert sorted(path.name for path in folder.iterdir()) == ["one.jsonl", "two.jsonl.gz", "zwei.parquet.jsonl"]
    assert read_lines(folder / "one.jsonl") == [line("a"), line(7, [4, 4 + length, 4])]
    assert read_lines(folder / "two.jsonl.gz") == [line("c", [2, 2 + length, 4]), line("d"), line(None)]
    assert read_lines(folder / "zwei.parquet.jsonl") == [line("x", [0, length, 4])]


def test_parquet_stays_parquet(tmp_path: Path) -> None:
    table = pa.table({"doc": ["a", "b", "c"], "body": [f"x {NOTICE}", NOTICE, f"y {NOTICE}"], "n": [1, 2, 3]})
    pq.write_table(table, tmp_path / "in.parquet")
    fields = FieldNames(id="doc", text="body")
    repeated_passages(tmp_path / "in.parquet", tmp_path / "out.parquet", words=10, fields=fields)
    kept = pa.table({"doc": ["a", "c"], "body": [f"x {NOTICE}", "y "], "n": [1, 3]})
    assert pq.read_table(tmp_path / "out.parquet").to_pylist() == kept.to_pylist()


def test_text_files_of_a_folder(tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "a.txt").write_bytes(f"Ä {NOTICE}\r\n".encode())
    (folder / "b.txt").write_bytes(f"Größe {NOTICE}\r\nEnde".encode("latin-1"))
    result = repeated_passages(folder, f"{tmp_path}/out/", words=10)
    assert (result.rows, result.kept) == (2, 2)
    assert (tmp_path / "out" / "a.txt").read_bytes() == (folder / "a.txt").read_bytes()
    assert (tmp_path / "out" / "b.txt").read_bytes() == "Größe \r\nEnde".encode()


TEXT = st.lists(st.sampled_from(["a", "b", "c", "日", "é.", "-"]), max_size=15).map(" ".join)


@pytest.mark.check
@given(st.lists(TEXT | st.none(), max_size=8), st.integers(1, 4), st.sampled_from(["later", "every"]))
def test_outputs_agree_and_no_row_is_lost(
    tmp_path_factory: pytest.TempPathFactory, texts: list[str | None], words: int, occurrences: Any
) -> None:
    folder = tmp_path_factory.mktemp("rows")
    rows = [{"id": str(number), "text": text} for number, text in enumerate(texts)]
    source = write_lines(folder / "in.jsonl", [*rows, {"id": "last", "text": "no other row has this"}])
    to, spans_to, attributes_to = (folder / name for name in ("out.jsonl", "spans.jsonl", "attributes"))
    options: dict[str, Any] = {"words": words, "occurrences": occurrences}
    result = repeated_passages(source, to, spans=spans_to, attributes=attributes_to, **options)
    assert result.rows == len(rows) + 1 == result.kept + result.dropped + result.failed
    assert result.failed == texts.count(None)
    written = {row["id"]: row["text"] for row in read_lines(folder / "out.jsonl")}
    spans: dict[str, list[list[int]]] = {}
    for span in read_lines(folder / "spans.jsonl"):
        spans.setdefault(span["id"], []).append([span["start"], span["end"], span["count"]])
    aligned = read_lines(folder / "attributes" / "in.jsonl")
    assert len(aligned) == result.rows
    for text, attributes in zip(texts, aligned, strict=False):
        found = attributes["attributes"]["repeated_passages"]
        if text is None:
            assert attributes == {"id": None, "attributes": {"repeated_passages": []}}
            continue
        assert found == spans.get(attributes["id"], [])
        left = text
        for start, end, _ in reversed(found):
            left = left[:start] + " " + left[end:]
        if found and not canonical_text(left).words:
            assert attributes["id"] not in written
        else:
            assert canonical_text(written[attributes["id"]]).chars == canonical_text(left).chars


def test_html_is_refused_and_so_are_attributes_of_an_earlier_run(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "in.jsonl", [{"url": "http://a.example/", "html": "<p>a"}])
    with pytest.raises(WinnowError, match=r"http://a\.example/ is HTML, and passages are cut out of texts"):
        repeated_passages(source, tmp_path / "out.jsonl")
    assert [path.name for path in tmp_path.iterdir()] == ["in.jsonl"]
    rows = write_lines(tmp_path / "rows.jsonl", [{"text": "one"}])
    write_lines(tmp_path / "attributes" / "other.jsonl", [])
    with pytest.raises(WinnowError, match=r"does not write: other\.jsonl"):
        repeated_passages(rows, attributes=tmp_path / "attributes", overwrite=True)
    assert [path.name for path in (tmp_path / "attributes").iterdir()] == ["other.jsonl"]


def test_old_outputs_stay_until_new_ones_are_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_lines(tmp_path / "in.jsonl", ROWS)
    for name in ("to.jsonl", "spans.jsonl", "spans.parquet", "attributes/in.jsonl"):
        write_lines(tmp_path / name, [{"old": True}])
    several: dict[str, Any] = {name: tmp_path / f"{name}.jsonl" for name in ("to", "spans")}
    several["attributes"] = tmp_path / "attributes"
    outputs = [{name: path} for name, path in (*several.items(), ("spans", tmp_path / "spans.parquet"))]
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    for output in outputs:
        with pytest.raises(WinnowError, match="exists"):
            repeated_passages(source, **output, words=10)
    with pytest.raises(WinnowError, match=r"name a file that ends in \.jsonl"):
        repeated_passages(source, spans=tmp_path / "spans.txt")

    def interrupt(_: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(passage_files, "_id", interrupt)
    with pytest.raises(KeyboardInterrupt):
        repeated_passages(source, **several | {"spans": tmp_path / "spans.parquet"}, words=10, overwrite=True)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    monkeypatch.undo()
    for output in outputs:
        repeated_passages(source, **output, words=10, overwrite=True)
    assert all(path.read_bytes() != old for path, old in before.items() if path != source)
