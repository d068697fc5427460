"""A request that is refused gets a page in a browser and JSON in the API, and learns nothing of the store."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lxml import html

from opensearch_winnow.web.form import MAX_BODY_BYTES
from opensearch_winnow.web.serving.guard import HEADERS
from tests.web.served_fixture import Served, serving

FORM = "application/x-www-form-urlencoded"


@pytest.fixture(scope="module")
def with_token(known_file: Path) -> Iterator[Served]:
    with serving(known_file, "--token", "s3cret-token") as found:
        yield found


def test_the_page_of_a_refusal_says_nothing_of_the_store(with_token: Served, served_file: Served) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    too_long = b"text=" + b"x" * MAX_BODY_BYTES
    site = {"sec_fetch_site": "cross-site"}
    for status, reply in (
        (401, with_token.get("/search?words=mill", **browser)),
        (421, served_file.get("/search?words=mill", host="evil.example", **browser)),
        (403, served_file.send("/paste", b"text=some", content_type=FORM, **site, **browser)),
        (413, served_file.send("/paste", too_long, content_type=FORM, **browser)),
    ):
        assert (reply.status, reply.headers["content-type"]) == (status, "text/html; charset=utf-8")
        page = html.document_fromstring(reply.body)
        assert page.findtext(".//h1")
        assert page.findtext(".//main/p")
        assert page.xpath("//@href | //@src") == []  # nothing that would be refused, too
        assert "known.winnow" not in reply.text
        policy = reply.headers["content-security-policy"]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert re.fullmatch(r"'sha256-[^']+'", rules.pop("style-src"))
        assert rules == dict.fromkeys(("default-src", "base-uri", "form-action", "frame-ancestors"), "'none'")
        assert {**HEADERS, "content-security-policy": policy}.items() <= reply.headers.items()


@pytest.mark.parametrize("path", ["/api/v1/search?words=mill", "/search.json?words=mill"])
def test_a_program_is_refused_in_json(with_token: Served, path: str) -> None:
    reply = with_token.get(path, accept="text/html")
    assert (reply.status, reply.headers["content-type"]) == (401, "application/json")
    assert "A token is required" in reply.json["error"]


def test_a_long_text_of_a_program_is_refused_in_json(served_file: Served) -> None:
    body = b'{"text": "' + b"x" * MAX_BODY_BYTES + b'"}'
    reply = served_file.send("/api/v1/quotes", body, content_type="application/json")
    assert reply.status == 413
    assert reply.json["error"].startswith("At most 16 MB can be sent at once")
