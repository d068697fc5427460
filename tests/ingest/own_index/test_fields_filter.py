"""The filter keeps every byte and the order, however its input arrives."""

from __future__ import annotations

import io
import json
from collections import Counter

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow import Scheme
from opensearch_winnow.ingest.own_index.fields_filter import Failure, FieldsFilter
from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker
from opensearch_winnow.mappings.attached_fields import AttachedFields

MAKER = FieldsMaker(AttachedFields(text=("text",)), Scheme())


class InPieces(io.BufferedReader):
    """Bytes that arrive in pieces of some size, as in a pipe."""

    def __init__(self, content: bytes, size: int) -> None:
        super().__init__(io.BytesIO(content))
        self._size = size

    def read1(self, size: int = -1, /) -> bytes:
        return super().read1(min(size, self._size))


def filtered(content: bytes, size: int = 1 << 20, **options: object) -> tuple[bytes, Counter[str], list[Failure]]:
    counts: Counter[str] = Counter()
    output, failures = b"", []
    for piece in FieldsFilter(MAKER, **options).pieces(InPieces(content, size)):  # type: ignore[arg-type]
        output += piece.output
        counts += piece.counts
        failures += piece.failures
    return output, counts, failures


def without_ours(line: bytes) -> bytes:
    at = line.find(b',"winnow":{"stamp"')
    if at < 0:
        return line
    document = json.loads(line)
    assert bool(document["winnow"]["text_digest"]) == ("text" in document)
    return line[:at] + b"}" + line[len(line.rstrip()) :]


SOURCE = b'{"text": "some words of a text"}'
BAD = (b"nonsense", b"[2]", b"{")
LINES = st.sampled_from([SOURCE, b'{"a": 1}', b"", b"  ", b'{"text": "\xc3\xa4"} \r', *BAD])


@given(st.lists(LINES), st.booleans(), st.integers(1, 60))
def test_lines_stay_in_order(lines: list[bytes], last_break: bool, size: int) -> None:
    content = b"\n".join(lines) + b"\n" * (last_break and bool(lines))
    output, counts, failures = filtered(content, size)
    assert b"".join(map(without_ours, output.splitlines(keepends=True))) == content
    there = [line for line in lines if line.strip()]
    assert counts["documents"] == len(there) == counts["done"] + counts["no_text"] + len(failures)
    assert [failure.lines.rstrip(b"\n") for failure in failures] == [line for line in lines if line in BAD]
    assert all(lines[failure.number - 1] == failure.lines.rstrip(b"\n") for failure in failures)


BODY = [
    *(b'{"index": {"_id": "1"}}', SOURCE, b'{"delete": {"_id": "2"}}', b'{"create": {}}', SOURCE),
    *(b'{"update": {"_id": 3}}', b'{"doc": {"text": "other words"}, "upsert": {"text": "first words"}}'),
    *(b'{"update": {"_id": "4"}}', b'{"doc": {"likes": 2}}'),
    *(b'{"update": {"_id": "4"}}', b'{"script": "ctx._source.likes++"}'),
]


@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_a_bulk_body(size: int) -> None:
    output, counts, failures = filtered(b"\n".join(BODY) + b"\n", size, bulk=True)
    lines = output.splitlines()
    assert not failures
    assert counts == {"documents": 5, "done": 3, "unaffected": 2}
    assert [at for at, line in enumerate(lines) if line == BODY[at]] == [0, 2, 3, 5, 7, 8, 9, 10]
    assert json.loads(lines[1])["winnow.cluster"] == "1"
    assert "winnow.cluster" not in json.loads(lines[4])  # its _id is not known
    update = json.loads(lines[6])
    assert update["doc"]["winnow"]["text_digest"] != update["upsert"]["winnow"]["text_digest"]
    assert update["doc"]["winnow.cluster"] == "3"


def test_an_update_with_some_of_the_text_fields_gets_none() -> None:
    maker = FieldsMaker(AttachedFields(text=("head", "body")), Scheme())
    line = b'{"doc": {"head": "words"}}\n'
    (piece,) = FieldsFilter(maker, bulk=True).pieces(InPieces(b'{"update": {"_id": "1"}}\n' + line, 1000))
    assert piece.output.endswith(line)
    assert piece.counts == {"documents": 1, "partial": 1}


def test_a_bulk_body_that_is_none() -> None:
    content = b'{"text": "no action"}\n{"index": {}}\nnonsense\n{"index": {}}\n'
    output, _, failures = filtered(content, bulk=True)
    assert output == content
    reasons = ["not an action of a _bulk body", "not JSON", "an action without its document"]
    assert [(each.number, each.reason) for each in failures] == [*zip((1, 3, 4), reasons, strict=True)]
    assert failures[1].lines == b'{"index": {}}\nnonsense\n'


@pytest.mark.parametrize("size", [1, 9, 1000])
@pytest.mark.parametrize("bulk", [False, True])
def test_a_line_that_is_too_long_passes(size: int, bulk: bool) -> None:
    action = b'{"index": {}}\n' * bulk
    long = b'{"text": "' + b"word " * 30 + b'"}\n'
    content = action + SOURCE + b"\n" + action + long + action + SOURCE + b"\n"
    output, counts, failures = filtered(content, size, bulk=bulk, max_line=50)
    assert b"".join(map(without_ours, output.splitlines(keepends=True))) == content
    assert counts["done"] == 2
    assert [each.number for each in failures] == [2 + 2 * bulk]
    kept, _, failures = filtered(content, size, bulk=bulk, max_line=50, keep_failed=False)
    assert len(kept.splitlines()) == 2 + 2 * bulk
    assert b"".join(each.lines for each in failures) == action + long


PARTS = st.sampled_from(
    [
        *(b'{"text": "', b"some words", b'"}', b"\n", b"\r", b"\xe9", b"\xff", b"\x00", b"\xef\xbb\xbf", b"\\ud83d"),
        *(b'"', b"{", b"}", b'"text": ', b'{"doc": ', b"[" * 2000, b"NaN", b"1" * 5000),
        *(b'{"index": {"_id": "1"}}\n', b'{"update": {}}\n', b'{"delete": {}}\n', b'{"index": {"_id": "\xe9"}}\n'),
    ]
)
ANY_BYTES = st.one_of(st.binary(), st.lists(st.one_of(PARTS, st.binary(max_size=3)), max_size=30).map(b"".join))


@given(ANY_BYTES, st.integers(1, 60), st.booleans(), st.booleans())
@example(b'{"text": "some words"}\n{"text": "caf\xe9"}\n{"text": "some words"}\n', 60, False, True)
def test_any_bytes_give_as_many_lines_in_order(content: bytes, size: int, bulk: bool, keep_failed: bool) -> None:
    output, counts, failures = filtered(content, size, bulk=bulk, keep_failed=keep_failed)
    lines, bad = io.BytesIO(content).readlines(), set()
    for failure in failures:
        of_it = io.BytesIO(failure.lines).readlines()
        numbers = range(failure.number - len(of_it), failure.number)
        assert [lines[number] for number in numbers] == of_it
        bad |= {*numbers}
    expected = [line for number, line in enumerate(lines) if keep_failed or number not in bad]
    for before, after in zip(expected, io.BytesIO(output).readlines(), strict=True):
        assert before == after or b'"winnow":{"stamp"' in after
    assert counts["documents"] == counts.total() - counts["documents"] + len(failures)
