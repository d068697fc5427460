from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.sources.header_fields import HEAD, Fields, end_of_header, text

names = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,20}", fullmatch=True)
values = st.from_regex(r"[!-~]([ -~]{0,30}[!-~])?", fullmatch=True)


@given(
    st.lists(st.tuples(names, values), max_size=8), st.sampled_from(["\r\n", "\n", "\r\r\n"]), st.binary(max_size=50)
)
def test_each_field_is_found(fields: list[tuple[str, str]], end: str, body: bytes) -> None:
    header = end.join(["HTTP/1.1 200 OK", *(f"{name}: {value}" for name, value in fields), "", ""]).encode()
    assert end_of_header(header + body) == len(header)
    found = Fields(header)
    for wanted, _ in fields:
        expected = [value for name, value in fields if name.lower() == wanted.lower()]
        assert [value.decode() for value in found.all(wanted.lower().encode())] == expected
        assert found.get(wanted.lower().encode()) == expected[0]
    assert found.get(b"200 ok") == found.get(b"") == ""


def test_a_field_may_continue_on_the_next_line() -> None:
    found = Fields(b"HTTP/1.1 200 OK\r\nA: one\r\n  two\r\n\tthree\r\nB:four\r\n\r\n")
    assert (found.get(b"a"), found.get(b"b")) == ("one two three", "four")


def test_a_header_without_an_end_is_read() -> None:
    assert end_of_header(b"A: b\r\n") is None
    assert end_of_header(b"A: b\r\n" * HEAD + b"\r\n") is None


@pytest.mark.parametrize(("value", "expected"), [(b"\xc3\xa9", "é"), (b"\xe9", "é"), (b"e", "e")])
def test_values_are_utf_8_or_latin_1(value: bytes, expected: str) -> None:
    assert text(value) == expected
