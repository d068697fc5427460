from __future__ import annotations

import gzip
import json
from base64 import b64encode
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.sources.jsonl import LINE_TYPE, is_one_document, looks_like, splits
from opensearch_winnow.ingest.sources.reading import read
from opensearch_winnow.ingest.sources.split import Damage, Failed, Item, Split
from opensearch_winnow.ingest.sources.unpacked import is_packed
from tests.ingest.sources.archives import Pack, little_memory, urls

CAP = 100_000
JAN_2 = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)


def items(path: Path, *, cap: int = CAP) -> list[Item]:
    return [item for _, item in read(Split("jsonl", str(path)), cap) if item is not None]


Line = Callable[[bytes | dict[str, object]], Item]
LOCATION = "base:#byte=0"


@pytest.fixture
def line(tmp_path: Path) -> Line:
    def read_line(content: bytes | dict[str, object]) -> Item:
        path = tmp_path / "line.jsonl"
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        (item,) = (item for _, item in read(Split("jsonl", str(path), base="base:"), CAP) if item is not None)
        return item

    return read_line


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"not json", "not JSON"),
        (b'{"url": "u", "text": "cut', "not JSON"),
        (b'{"url": "u", "text": "x"} {}', "not JSON"),
        (b'{"url": "u", "text": "\xff"}', "not UTF-8"),
        (b"[1]", "not an object"),
        (b'"url"', "not an object"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"url": "u", "n": ' + b"9" * 5_000 + b"}", "a number is too long"),
        (b'{"url": 1, "text": "x"}', "url is not a string"),
    ],
)
def test_a_failed_line_without_a_url_is_kept_unchanged(line: Line, content: bytes, reason: str) -> None:
    assert line(content) == Failed(Page(LOCATION, html=content, content_type=LINE_TYPE), reason)


@pytest.mark.parametrize("url", ["", '"url": "", ', '"url": "  ", ', '"url": NaN, ', '"id": null, '])
def test_the_address_of_a_line_without_an_id_is_its_location(line: Line, url: str) -> None:
    assert line(f'{{{url}"text": "x"}}'.encode()) == Page(LOCATION, text="x")


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ("", "neither html nor text"),
        (', "html": null', "neither html nor text"),
        (', "text": NaN', "neither html nor text"),
        (', "html": ["x"]', "html is not a string"),
        (', "text": {"a": 1}', "text is not a string"),
        (', "html": "\\ud800"', "half a character in html"),
        (', "text": "x", "title": "\\udc00"', "half a character in title"),
        (', "text": "x", "title": 1', "title is not a string"),
        *((f', "text": "x", "date": {date}', "date is not a date") for date in ('"soon"', "true", "1e999", "9" * 23)),
        (', "text": "x", "fetched_at": "2024-13-01"', "fetched_at is not a date"),
        (', "text": "x", "codings": "gzip"', "codings is not a list of strings"),
        (', "html_base64": "???"', "html_base64 is not base64"),
        (', "html_base64": "ä"', "html_base64 is not base64"),
        (', "html_base64": ""', "its body was not kept"),
    ],
)
def test_a_failed_line_with_a_url_keeps_its_url(line: Line, fields: str, reason: str) -> None:
    item = line(('{"url": "https://example.org/"' + fields + "}").encode())
    assert isinstance(item, Failed)
    assert (item.page.url, item.reason) == ("https://example.org/", reason)


def test_unneeded_fields_may_be_invalid(line: Line) -> None:
    content = b'{"url": "u", "score": NaN, "text": "a\tb \\ud83d\\ude00", "url2": "\\ud800", "big": 1e999}'
    assert line(content) == Page("u", text="a\tb 😀")


@pytest.mark.parametrize("content", [b"not json", b'{"url": "https://example.org/"}', b"\xff"])
def test_a_failed_line_is_parsed_as_a_line_again(line: Line, content: bytes) -> None:
    first = line(content)
    assert isinstance(first, Failed)
    assert first.page.html == content
    kept = {"url": first.page.url, "content_type": first.page.content_type, "reason": first.reason}
    assert line({**kept, "html_base64": b64encode(content).decode()}) == first


@pytest.mark.parametrize("letter", ["x", "ж", "語", "😀", '"'])
@pytest.mark.parametrize("ascii_only", [True, False])
def test_the_size_limit_applies_to_the_page_and_not_to_its_line(line: Line, letter: str, ascii_only: bool) -> None:
    text = letter * (CAP // len(letter.encode()))
    assert line(json.dumps({"url": "u", "text": text}, ensure_ascii=ascii_only).encode()) == Page("u", text=text)
    item = line(json.dumps({"url": "u", "text": text + "xxxx"}, ensure_ascii=ascii_only).encode())
    assert isinstance(item, Failed)
    assert item.reason == "larger than 0.1 MB"


def test_the_size_limit_applies_to_what_base64_says(line: Line) -> None:
    for size, kind in ((CAP, Page), (CAP + 1, Failed)):
        assert isinstance(line({"url": "u", "html_base64": b64encode(bytes(size)).decode()}), kind)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstandard.compress])
def test_an_endless_line_is_not_held_in_memory(tmp_path: Path, pack: Pack) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(pack(b'{"url": "u", "text": "' + b"x" * 30_000_000 + b'"}\n{"url": "next", "text": "x"}\n'))
    with little_memory(20_000_000):
        found = items(path)
    assert found == [Failed(Page(f"{path.as_uri()}#byte=0", html=b""), "larger than 0.1 MB"), Page("next", text="x")]


good = st.fixed_dictionaries(
    {"url": st.integers(0, 9).map(str), "text": st.text(st.characters(exclude_categories=["Cs"]), max_size=20)}
).map(lambda row: json.dumps(row, ensure_ascii=False).encode())
bad = st.binary(max_size=20).map(lambda content: content.replace(b"\n", b"")).filter(lambda line: not is_packed(line))
contents = st.lists(st.tuples(st.one_of(good, bad), st.sampled_from([b"\n", b"\r\n", b"\n\n"])), max_size=12)


@given(contents, st.booleans(), st.lists(st.integers(0, 400), max_size=5), st.sampled_from([10, CAP]))
def test_items_do_not_depend_on_the_splits(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[bytes, bytes]], ends: bool, cuts: list[int], cap: int
) -> None:
    content = b"".join(line + end for line, end in lines)
    content = content if ends else content.rstrip(b"\r\n")
    path = tmp_path_factory.getbasetemp() / "cuts.jsonl"
    path.write_bytes(content)
    whole = list(read(Split("jsonl", str(path)), cap))
    assert whole[-1] == (len(content), None)
    bounds = sorted({0, *(cut for cut in cuts if cut < len(content))})
    pieces = [Split("jsonl", str(path), *bound) for bound in zip(bounds, [*bounds[1:], None], strict=True)]
    parts = [list(read(piece, cap)) for piece in pieces]
    assert [item for part in parts for item in part[:-1]] == whole[:-1]
    for piece, part, following in zip(pieces, parts, parts[1:], strict=False):
        stopped = part[-1][0]
        assert piece.end is not None
        assert stopped >= piece.end
        assert all(offset >= stopped for offset, _ in following[:-1])
    for size in (1, 7, 50, 10_000):
        made = list(splits(str(path), size))
        assert [piece.start for piece in made[1:]] == [piece.end for piece in made[:-1]]
        assert sum(piece.size for piece in made) == len(content)
        read_in_turn = [list(read(piece, cap)) for piece in made]
        assert [part[-1][0] for part in read_in_turn[:-1]] == [piece.end for piece in made[:-1]]
        assert [item for part in read_in_turn for item in part[:-1]] == whole[:-1]


@given(contents, st.integers(0, 300))
def test_items_do_not_depend_on_compression(
    tmp_path_factory: pytest.TempPathFactory, lines: list[tuple[bytes, bytes]], start: int
) -> None:
    content = b"".join(line + end for line, end in lines) + b'{"url": "last", "text": "x"}\n'
    plain = tmp_path_factory.getbasetemp() / "plain.jsonl"
    plain.write_bytes(content)
    whole = list(read(Split("jsonl", str(plain), start, base="source:"), CAP))
    for pack in (gzip.compress, zstandard.compress):
        packed = tmp_path_factory.getbasetemp() / "packed.jsonl.gz"
        packed.write_bytes(pack(content))
        (split,) = splits(str(packed), 1)
        assert split.size == packed.stat().st_size
        assert list(read(replace(split, start=start, base="source:"), CAP)) == whole


def test_byte_order_marks_and_blank_lines_are_ignored(tmp_path: Path) -> None:
    line = b'{"url": "u", "text": "x"}'
    content = b"\xef\xbb\xbf%b\r\n\r\n  \n\xef\xbb\xbf%b\n\t%b" % (line, line, line)
    (tmp_path / "a.jsonl").write_bytes(content)
    assert items(tmp_path / "a.jsonl") == [Page("u", text="x")] * 3


@pytest.mark.parametrize("pack", [gzip.compress, zstandard.compress])
def test_lines_before_damage_are_read(tmp_path: Path, pack: Pack) -> None:
    lines = [json.dumps({"url": f"u{number}", "text": str(hash((number,)))}).encode() for number in range(5_000)]
    whole = pack(b"\n".join(lines))
    path = tmp_path / "a.jsonl.gz"
    path.write_bytes(whole[: len(whole) * 3 // 4])
    *pages, damage = items(path)
    assert isinstance(damage, Damage)
    assert "cut off" in damage.reason
    assert 1_000 < len(pages) < 5_000
    assert urls(pages) == [f"u{number}" for number in range(len(pages))]
    assert items(path) == [*pages, damage]


def test_a_file_that_was_deleted_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    item = Failed(Page(path.as_uri(), html=b""), "cannot be read: No such file or directory")
    assert list(read(Split("jsonl", str(path), 10, 20), CAP)) == [(10, item), (20, None)]


LINES = (b'{"url": "u", "text": "x"}\n', b'\xef\xbb\xbf\r\n{"uri": "u", "html": "x"}', b'{"text": "' + b"x" * 1_000)
ARRAYS = (b'[{"url": "u", "text": "x"}]', b'\xef\xbb\xbf\n[\n{"url": "u", "text": "x"}]')
DOCUMENTS = (*ARRAYS, b'{\n  "url": "u",\n  "text": "x"\n}')
NEITHER = (b'{"name": "' + b"x" * 1_000, b'{"url": "u"}\n', b"<html>", b"")


def test_jsonl_is_recognized_by_its_first_line() -> None:
    assert {(looks_like(head), is_one_document(head)) for head in LINES} == {(True, False)}
    assert {(looks_like(head), is_one_document(head)) for head in DOCUMENTS} == {(False, True)}
    assert {(looks_like(head), is_one_document(head)) for head in NEITHER} == {(False, False)}
