"""Answers are compressed for those who accept it."""

from __future__ import annotations

import gzip
import re

import pytest

from opensearch_winnow.web.serving.guard import HEADERS
from tests.web.served_fixture import Served

TIMES = re.compile(r'\d[\d.]* m?s\b|"seconds":[\d.e-]+')


@pytest.mark.parametrize(
    "path",
    [
        "/search?words=mill",
        "/search.json?words=mill",
        "/search.csv?words=mill",
        "/static/winnow.css",
        "/static/winnow.js",
    ],
)
def test_an_answer_is_compressed_for_those_who_want_it(served_file: Served, path: str) -> None:
    plain = served_file.get(path)
    packed = served_file.get(path, accept_encoding="gzip, deflate, br")
    assert "content-encoding" not in plain.headers
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert plain.headers["vary"] == "Accept-Encoding"
    assert int(packed.headers["content-length"]) == len(packed.body) < len(plain.body) * 0.7
    unpacked = gzip.decompress(packed.body).decode()  # once
    assert TIMES.sub("", unpacked) == TIMES.sub("", plain.text)
    assert HEADERS.items() <= packed.headers.items()


def test_a_small_answer_is_not_compressed(served_file: Served) -> None:
    reply = served_file.get("/api/v1/quotes", accept_encoding="gzip")
    assert reply.status == 200
    assert "content-encoding" not in reply.headers
