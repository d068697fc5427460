"""deduplicate reads rows of files, and writes those that are kept as they were."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from opensearch_winnow import (
    Index,
    Page,
    WinnowError,
    contaminated,
    deduplicate,
    deduplicate_rows,
    pairs,
    repeated_passages,
)
from opensearch_winnow.batch import PassageIndex
from opensearch_winnow.clusters.deduplication.options import Match
from opensearch_winnow.types import FieldNames
from tests.clusters.conftest import words
from tests.operations.sets.json_lines import read_lines, write_lines

RANDOM = Random(7)
LONG = " ".join(words(RANDOM, 200))
EDITED = " ".join([*LONG.split()[:190], *words(RANDOM, 10)])
PART = " ".join(LONG.split()[40:90])
OTHER = " ".join(words(RANDOM, 100))
ROWS: list[dict[str, Any]] = [
    {"id": "a", "text": LONG, "score": 1},
    {"id": "b", "text": OTHER, "score": 9, "more": {"nested": [1, 2]}},
    {"id": "a", "text": EDITED, "score": 3},
    {"id": "c", "text": LONG.upper(), "score": 2},
    {"id": "d", "text": PART, "score": 5},
]


@pytest.mark.parametrize(
    ("options", "kept"),
    [
        ({"match": "identical"}, [0, 1, 2, 3, 4]),
        ({"match": "exact"}, [0, 1, 2, 4]),
        ({}, [0, 1, 4]),
        ({"match": "contained"}, [0, 1]),
        ({"keep": "best:score"}, [1, 2, 4]),
        ({"keep": "lowest:score"}, [0, 1, 4]),
        ({"min_resemblance": 0.95}, [0, 1, 2, 4]),
    ],
)
def test_json_lines_are_kept_byte_for_byte(tmp_path: Path, options: dict[str, Any], kept: list[int]) -> None:
    source, to = write_lines(tmp_path / "rows.jsonl", ROWS), tmp_path / "kept.jsonl"
    result = deduplicate(source, to, **options)
    assert result.kept_numbers() == kept
    lines = source.read_bytes().splitlines(keepends=True)
    assert to.read_bytes() == b"".join(lines[number] for number in kept)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["kept.jsonl", "rows.jsonl"]
    assert deduplicate_rows(ROWS, **options).representatives == result.representatives


def test_parquet_keeps_its_columns(tmp_path: Path) -> None:
    source, to = tmp_path / "rows.parquet", tmp_path / "kept.parquet"
    table = pa.table({"text": [row["text"] for row in ROWS], "score": [row["score"] for row in ROWS]})
    pq.write_table(table, source)
    deduplicate(str(source), str(to))
    assert pq.read_table(to).equals(table.take([0, 1, 4]))


def test_rows_are_marked_or_listed(tmp_path: Path) -> None:
    source, to = write_lines(tmp_path / "rows.jsonl", ROWS), tmp_path / "marked.jsonl"
    deduplicate(source, to, mark=True, match="contained")
    marked = read_lines(to)
    assert [{name: row[name] for name in given} for row, given in zip(marked, ROWS, strict=True)] == ROWS
    assert [row["cluster"] for row in marked] == [0, 1, 0, 0, 0]
    assert [row["keep"] for row in marked] == [True, True, False, False, False]
    assert [row["representative"] for row in marked] == [None, None, "a", "a", "a"]
    assert [row["similarity"] for row in marked] == [1, 1, pytest.approx(0.9476, abs=1e-3), 1, 1]
    deduplicate(source, ids=tmp_path / "ids.txt", dropped=tmp_path / "dropped.jsonl")
    assert (tmp_path / "ids.txt").read_text(encoding="utf-8") == "a\nb\nd\n"
    near, exact = read_lines(tmp_path / "dropped.jsonl")
    place = {"id": "a", "row": 2, "cluster": 0, "representative": "a"}
    assert near == {**place, "why": "near", "similarity": near["similarity"]}
    assert (exact["id"], exact["row"], exact["why"], exact["similarity"]) == ("c", 3, "exact", 1.0)


def test_rows_of_an_earlier_set_are_dropped_and_not_written(tmp_path: Path) -> None:
    old = write_lines(tmp_path / "old.jsonl", [{"id": "o1", "text": "another row"}, {"id": "o2", "text": EDITED}])
    new = write_lines(tmp_path / "new.jsonl", ROWS)
    result = deduplicate(new, tmp_path / "added.jsonl", against=[old], dropped=tmp_path / "dropped.jsonl")
    assert [row["id"] for row in read_lines(tmp_path / "added.jsonl")] == ["b", "d"]
    assert (result.rows, result.kept, result.dropped, result.against) == (5, 2, 3, 3)
    assert {line["representative"] for line in read_lines(tmp_path / "dropped.jsonl")} == {"o2"}
    assert {line["cluster"] for line in read_lines(tmp_path / "dropped.jsonl")} == {-2}


def test_bad_rows_are_kept_in_a_file(tmp_path: Path) -> None:
    source = tmp_path / "rows.jsonl"
    lines = [json.dumps({"id": 1, "text": "a text"}), "not JSON", json.dumps({"id": 2}), json.dumps({"text": "A text"})]
    source.write_text("\n".join(lines), encoding="utf-8")
    result = deduplicate(source, tmp_path / "kept.jsonl", failed=tmp_path / "failed.jsonl")
    assert [result.outcome(number) for number in range(result.rows)] == ["kept", "failed", "failed", "exact"]
    assert read_lines(tmp_path / "kept.jsonl") == [{"id": 1, "text": "a text"}]
    failed = read_lines(tmp_path / "failed.jsonl")
    assert [line["reason"] for line in failed] == list(result.failures)
    deduplicate(source, tmp_path / "marked.jsonl", mark=True)
    assert len(read_lines(tmp_path / "marked.jsonl")) == 2


def test_the_first_source_wins_and_dates_of_any_century_choose_the_row(tmp_path: Path) -> None:
    first = write_lines(tmp_path / "first.jsonl", [{"id": "late", "text": LONG, "date": "2026-02-01"}])
    second = write_lines(tmp_path / "second.jsonl", [{"id": "early", "text": LONG, "date": "2025-02-01"}])
    for keep, kept in (("source", [0]), ("earliest", [1]), ("newest", [0])):
        assert deduplicate([first, second], keep=keep).kept_numbers() == kept
    rows = [{"text": LONG, "date": date} for date in ("1999-01-01", "1066", "2020-05")]
    assert deduplicate_rows(rows).kept_numbers() == [1]
    assert deduplicate(write_lines(tmp_path / "rows.jsonl", rows), keep="newest").kept_numbers() == [2]


def test_fields_may_have_other_names(tmp_path: Path) -> None:
    rows = [{"key": str(number), "body_of_text": text} for number, text in enumerate(("one two", "One, two"))]
    source = write_lines(tmp_path / "rows.jsonl", rows)
    fields = FieldNames(id="key", text="body_of_text")
    assert deduplicate(source, tmp_path / "kept.jsonl", fields=fields).kept == 1
    assert deduplicate_rows(rows, fields=fields).kept == 1


def test_an_example_shows_which_symbols_differ(tmp_path: Path) -> None:
    long = "It is said that " * 9
    texts = ["two", f"{long} 12 + 5 is less than {long}", f"{long} 12 * 5 is less than {long}", "TWO"]
    around = "…that It is said that It is said that 12 {} 5 is less than It is said that It is…"
    wanted = (2, around.format("*"), 1, around.format("+"))
    rows = [{"text": text} for text in texts]
    result = deduplicate(write_lines(tmp_path / "rows.jsonl", rows), match="exact")
    assert (result.dropped, result.other_symbols, result.other_symbols_example) == (2, 1, wanted)
    assert deduplicate_rows(rows, match="exact").other_symbols_example == wanted
    assert deduplicate_rows(iter(rows), match="exact").other_symbols_example == (2, "", 1, "")
    old = write_lines(tmp_path / "old.jsonl", [{"text": "costs 5"}])
    new = write_lines(tmp_path / "new.jsonl", [{"text": "costs\n5 %"}])
    assert deduplicate(new, against=old).other_symbols_example == (0, "costs 5 %", -1, "costs 5")
    assert deduplicate_rows(["x = 1", "X = 1"]).other_symbols_example is None
    assert deduplicate_rows(["x + 1", "x - 1"], match="identical").kept == 2


def test_rows_in_memory_and_what_cannot_be_read_of_them() -> None:
    result = deduplicate_rows(["one text", {"text": "another"}, {"no": "text"}, "One text."], against=["another"])
    assert [result.outcome(number) for number in range(4)] == ["kept", "exact", "failed", "exact"]
    assert list(result.representatives) == [0, -1, 2, 0]
    rows: list[Any] = [None, 3, "a text"]
    result = deduplicate_rows(rows)
    assert (result.failures["neither a text nor a mapping"], result.kept_numbers()) == (2, [2])
    assert repr(result) == "<Deduplication: 3 rows, 1 kept, 0 dropped, 2 failed>"
    with pytest.raises(WinnowError, match="no field with a text: their fields are story, n; name the one"):
        deduplicate_rows([{"story": "one"}, {"story": "two", "n": 1}])
    assert deduplicate_rows([{"story": "one"}], fields=FieldNames(text="story")).kept == 1
    with pytest.raises(TypeError, match=r"no parameter text_field: there are .*\bfields\b"):
        deduplicate_rows([], text_field="story")  # type: ignore[call-arg]


class Frame:
    """A DataFrame: iterating over it yields the names of its columns."""

    def __init__(self, table: pa.Table) -> None:
        self.table, self.columns = table, table.column_names

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)


class StreamingFrame(Frame):
    """A DataFrame of pandas or polars that Arrow can read."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.table.__arrow_c_stream__(requested_schema)


def test_tables_are_rows() -> None:
    moments = pa.array([1_700_000_000_000_000_001] * 5, pa.timestamp("ns", "Europe/Berlin"))
    table = pa.table({"id": ["a"] * 5, "text": [row["text"] for row in ROWS], "date": moments})
    expected = deduplicate_rows(ROWS).kept_numbers()
    pieces = pa.concat_tables([table.slice(0, 2), table.slice(2, 3)])
    for rows in (table, pieces, table.combine_chunks().to_batches()[0], StreamingFrame(table), table["text"]):
        assert deduplicate_rows(rows).kept_numbers() == expected
    assert deduplicate_rows([LONG, "another"], against=table).kept_numbers() == [1]
    result = deduplicate_rows(table.append_column("bytes", [["x" * 2_000] * 5]), max_row_size=1_900)
    assert result.failures == {"larger than 0.0019 MB": 5}
    with pytest.raises(WinnowError, match="no field with a text: their fields are id, date"):
        deduplicate_rows(table.drop(["text"]))


def test_what_is_no_list_of_rows_is_refused(index: Index) -> None:
    frame: Any = Frame(pa.table({"text": ["a"]}))
    with pytest.raises(WinnowError, match=r'a Frame is a table: pass its rows, for example df.to_dict\("records"\)'):
        deduplicate_rows(frame)
    for rows in ("rows.jsonl", {"text": ["a"]}):
        with pytest.raises(WinnowError, match=r"iterable of texts or mappings, not one (str|dict)"):
            deduplicate_rows(rows)
    takers: list[Any] = [deduplicate, repeated_passages, pairs, PassageIndex, lambda each: contaminated(each, "a")]
    for table, take in product((frame, frame.table, StreamingFrame(frame.table)), takers):
        with pytest.raises(WinnowError, match="is a table: pass"):
            take(table)
    rows_of_pages: Any = [{"url": "http://a.org/", "text": "x"}]
    for pages in (frame, rows_of_pages):
        with pytest.raises(WinnowError, match=r"a page is a Page\(url, html=… or text=…\), not a (str|dict)"):
            index.add(pages)
    index.add([Page("http://a.org/", text="x")])
    with pytest.raises(WinnowError, match="a Frame is a table: pass a text, a Page or a mapping"):
        list(index.similar_batch(frame))


def test_what_cannot_be_done_is_said_before_the_work(tmp_path: Path) -> None:
    source = write_lines(tmp_path / "rows.jsonl", ROWS)
    there = write_lines(tmp_path / "there.jsonl", [])
    refused: list[tuple[Any, dict[str, Any], str]] = [
        (source, {"to": there}, "exists"),
        (source, {"to": tmp_path / "no" / "kept.jsonl"}, r"kept\.jsonl cannot be written: there is no folder .*no"),
        (source, {"ids": tmp_path / "no" / "ids.txt"}, "there is no folder"),
        (source, {"ids": there}, "exists"),
        (source, {"mark": True}, "need an output"),
        (source, {"to": source, "overwrite": True}, "is one of the sources"),
        ([], {}, "name at least one source"),
    ]
    for sources, options, message in refused:
        with pytest.raises(WinnowError, match=message):
            deduplicate(sources, **options)
    assert read_lines(source) == ROWS


@pytest.mark.parametrize("keep", ["best:score", "lowest:score", "newest"])
def test_a_rule_that_ranks_no_row_is_refused(keep: str) -> None:
    with pytest.raises(WinnowError, match=r"no row has a (number in the field score|date)"):
        deduplicate_rows([{"text": "one two"}, {"text": "three", "score": "high"}], keep=keep)
    assert deduplicate_rows([], keep=keep).rows == 0


def test_failed_rows_of_an_earlier_run_do_not_remain(tmp_path: Path) -> None:
    bad, good = tmp_path / "bad.jsonl", tmp_path / "good.jsonl"
    bad.write_text('no JSON\n{"text": "one"}\n')
    good.write_text('{"text": "two"}\n')
    to, failed = tmp_path / "out.jsonl", tmp_path / "failed.jsonl"
    assert deduplicate(bad, to, failed=failed).failed == 1
    lines = failed.read_bytes()
    to.unlink()
    with pytest.raises(WinnowError, match=r"failed\.jsonl exists"):
        deduplicate(good, to, failed=failed)
    with pytest.raises(WinnowError, match="no row has a date"):
        deduplicate(good, to, failed=failed, keep="newest", overwrite=True)
    assert failed.read_bytes() == lines
    deduplicate(good, to, failed=failed, overwrite=True)
    assert not failed.exists()


@pytest.mark.parametrize("match", ["identical", "exact", "near", "contained"])
def test_html_without_visible_text_is_compared_as_it_is(match: Match) -> None:
    rows = [{"content": f"<script>{code}</script>"} for code in ("a = b + c", "d = e + f", "a = b + c")]
    assert deduplicate_rows(rows, match=match).kept_numbers() == [0, 1]
