"""docs/web.md agrees with the code. Its commands are run with those of the other pages."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from opensearch_winnow.foundation.client_pace import CHECK_SECONDS
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES
from opensearch_winnow.web.app import (
    API,
    MAX_BODIES_BYTES,
    MAX_WAITING_REQUESTS,
    REDIRECTS,
    SCREENS,
    THREADS,
)
from opensearch_winnow.web.form import MAX_BODY_BYTES
from opensearch_winnow.web.openapi import openapi
from opensearch_winnow.web.pages import STATIC
from opensearch_winnow.web.pasted_texts import EXPIRY_MINUTES
from opensearch_winnow.web.screens.searching.search import HITS_EXAMINED
from opensearch_winnow.web.sent_json import MAX_BATCH, MAX_GZIP_RATIO
from opensearch_winnow.web.server_options import MAX_SECONDS, MIN_TOKEN_CHARS, PORT
from opensearch_winnow.web.serving.server import GRACE_SECONDS, MAX_CONNECTIONS, OTHER_DESCRIPTORS
from tests.web.served_fixture import Served


@pytest.fixture(scope="module")
def guide(root: Path) -> str:
    return (root / "docs/web.md").read_text(encoding="utf-8")


def test_every_screen_is_in_it(guide: str) -> None:
    told = set(re.findall(r"`(/(?!api/)[^`?]*)", guide.partition("## Keys")[0]))
    pasted = {screen.path for screen in SCREENS if screen.path.startswith("/paste/")}
    ways = {redirect.path for redirect in REDIRECTS}
    assert told == {screen.path for screen in SCREENS if screen.path} - pasted | ways


def test_every_question_of_a_program_is_in_it(guide: str) -> None:
    described = json.loads(openapi(SCREENS, API))["paths"]
    known = {f"{method.upper()} {API}{path}" for path, methods in described.items() for method in methods}
    assert set(re.findall(r"`((?:GET|POST) [^`]+)`", guide)) == known


def test_every_key_is_in_it(guide: str) -> None:
    keys = re.findall(r'^  \["([^"]+)", "([^"]+)",', (STATIC / "winnow.js").read_text(encoding="utf-8"), re.MULTILINE)
    assert keys
    assert (
        re.findall(r"^\| `([^`]+)` \| (.+) \|$", guide.partition("## Keys")[2].partition("##")[0], re.MULTILINE) == keys
    )


def test_its_numbers_are_those_of_the_program(guide: str) -> None:
    for words in (
        f"{MAX_BODY_BYTES:,} bytes can be sent at once",
        f"may have {MAX_PAGE_BYTES:,} bytes",
        f"at most {MAX_GZIP_RATIO} times the size of its gzip",
        f"At most {MAX_BATCH:,} documents or pairs",
        f"{MAX_BODIES_BYTES:,} bytes of all requests together",
        f"for {EXPIRY_MINUTES} minutes after",
        f"{THREADS} questions are answered at a time, and {MAX_WAITING_REQUESTS} more may wait",
        f"One of the {THREADS} is never",
        f"After {MAX_SECONDS:g} seconds of comparing",
        f"within {CHECK_SECONDS:g} seconds",
        f"{MAX_CONNECTIONS:,} connections are open at a time",
        f": {OTHER_DESCRIPTORS} of them",
        f"questions in progress {GRACE_SECONDS} seconds",
        f"of {MIN_TOKEN_CHARS} characters at least",
        f"looks at {HITS_EXAMINED:,} hits",
        f"127.0.0.1:{PORT}",
    ):
        assert words in guide


@pytest.mark.parametrize("field", ["text", "html"])
def test_a_longer_text_than_a_page_may_have(served_file: Served, field: str) -> None:
    for path, kind in (("/paste", "application/x-www-form-urlencoded"), (f"{API}/quotes", "application/json")):
        text = "x" * (MAX_PAGE_BYTES + 1)
        body = json.dumps({field: text}) if "json" in kind else f"{field}={text}"
        assert len(body) < MAX_BODY_BYTES
        reply = served_file.send(path, body.encode(), content_type=kind)
        assert reply.status == 400
        assert "10 MB" in reply.text
