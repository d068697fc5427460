"""The sort keys of URLs in indexes of web archives."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.foundation.surt import surt


@pytest.mark.parametrize(
    ("url", "key"),
    [
        *[(f"http://{host}", "org,example)/") for host in ("example.org", "www2.example.org/")],
        ("https://www.Example.org:443/A/?b=2&a=1#top", "org,example)/a?a=1&b=2"),
        ("http://example.org:8080/x", "org,example:8080)/x"),
        ("http://user:password@example.org/x?", "org,example)/x"),
        ("http://example.org//a//./b/../c/", "org,example)/a/c"),
        ("http://example.org/%7Euser/a%2520b", "org,example)/~user/a%20b"),
        ("http://b\u00fccher.example/\u00e4 b", "example,xn--bcher-kva)/%c3%a4%20b"),
        ("http://example.org/?a&b=&b=1&a=0", "org,example)/?a&a=0&b=&b=1"),
        ("http://example.org/?x=1&phpsessid=0123456789abcdef0123456789abcdef&y=2", "org,example)/?x=1&y=2"),
        ("http://example.org/(S(123456789012345678901234))/a.aspx", "org,example)/a.aspx"),
        *[("http://10.0.0.1/x", "1,0,0,10)/x"), ("http://[::1]:80/x", "::1)/x")],
        *[(text, text) for text in ("urn:x:y", "not a URL")],
    ],
)
def test_keys(url: str, key: str) -> None:
    assert surt(url) == key


@given(st.text(max_size=30) | st.text(max_size=30).map(lambda rest: f"http://example.org/{rest}"))
def test_every_text_has_a_key_and_case_does_not_count(text: str) -> None:
    assert isinstance(surt(text), str)
    if text.isascii() and text.startswith("http://"):
        assert surt(text.upper()) == surt(text)
