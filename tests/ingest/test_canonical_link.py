from __future__ import annotations

from urllib.parse import urlsplit

import pytest
from hypothesis import given, strategies as st

from opensearch_winnow.ingest.canonical_link import MAX_URL_CHARS, canonical_url, header_link

PAGE = "http://example.org/a/b?c"
LONG = "http://example.org/" + "x" * MAX_URL_CHARS
PIECES = st.sampled_from(["http:", "https:", "//", "/", "..", "a.example", *"?#[]é \n\ud800"])
LINKS = st.one_of(st.lists(PIECES, max_size=8).map("".join), st.text(max_size=12))


RESOLVED = {
    "https://other.example/x": "https://other.example/x",
    " \n/x\t": "http://example.org/x",
    "x?y=1": "http://example.org/a/x?y=1",
    "../x": "http://example.org/x",
    "?y": "http://example.org/a/b?y",
    "//other.example/x": "http://other.example/x",
    "https://other.example/x#part": "https://other.example/x",
    "#part": PAGE,
    PAGE: PAGE,
    "https://other.example": "https://other.example/",
    "https://other.example?": "https://other.example/?",
    "https://other.example/a/../b?": "https://other.example/a/../b?",
    "http://example.org/é": "http://example.org/é",
    LONG[:MAX_URL_CHARS]: LONG[:MAX_URL_CHARS],
    **dict.fromkeys(["", " ", "http://", "http://[::1", "http://example.org/a\x01b", LONG, "x" * MAX_URL_CHARS]),
    **dict.fromkeys(["javascript:void(0)", "mailto:me@example.org", "data:text/html,x", "ftp://example.org/"]),
}


@pytest.mark.parametrize(
    ("link", "page", "base", "url"),
    [
        *((link, PAGE, "", url) for link, url in RESOLVED.items()),
        ("x", PAGE, "http://base.example/d/", "http://base.example/d/x"),
        ("x", PAGE, " /d/ ", "http://example.org/d/x"),
        ("http://other.example/x", PAGE, "/d/", "http://other.example/x"),
        ("x", PAGE, "http://[", None),
        ("x", PAGE, "javascript:", None),
        ("file:///a", "file:///a", "", None),
        ("a", "file:///b", "", None),
        *((url, url, "", url) for url in ("http://example.org", "http://example.org/?", "http://example.org/a/./b")),
    ],
)
def test_a_link_is_resolved(link: str, page: str, base: str, url: str | None) -> None:
    assert canonical_url(link, page, base) == url


@given(LINKS, LINKS, LINKS)
def test_whatever_is_resolved_is_a_url_of_the_web_and_stays_the_same(link: str, url: str, base: str) -> None:
    found = canonical_url(link, url, base)
    if found is not None:
        assert urlsplit(found).scheme in ("http", "https")
        assert "#" not in found
        assert len(found.encode()) <= 4 * MAX_URL_CHARS
        assert canonical_url(found, url, base) == found
        assert not urlsplit(found).path or canonical_url(found, PAGE) == found


@pytest.mark.parametrize(
    ("fields", "link"),
    [
        ([], None),
        (["<https://a.example/>; rel=preload; as=style"], None),
        (["</x>; rel=canonical"], "/x"),
        (['<https://a.example/a,b;c>; title="x, y"; REL="nofollow Canonical"'], "https://a.example/a,b;c"),
        (["</no>; rel=next, </x>; rel='no', </yes>;rel=canonical, </late>; rel=canonical"], "/yes"),
        (["</no>; rel=next", "</yes>; rel=canonical"], "/yes"),
        (["</no>; rel=next; rel=canonical", "rel=canonical", "<", "<>"], None),
        (['</x>; rel="canonical'], None),
    ],
)
def test_the_link_in_a_header(fields: list[str], link: str | None) -> None:
    assert header_link(fields) == link


@given(st.lists(st.text("<>;,=\" 'relcanonical/", max_size=30), max_size=3))
def test_any_header_is_read(fields: list[str]) -> None:
    link = header_link(fields)
    assert link is None or any(f"<{link}>" in field for field in fields)
