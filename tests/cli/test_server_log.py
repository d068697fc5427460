"""Whatever strangers send, the log of a server has no control characters, no forged lines and no endless ones."""

from __future__ import annotations

import logging
import sys
from io import StringIO

import pytest
from hypothesis import example, given, strategies as st

from opensearch_winnow.cli import server_log
from opensearch_winnow.cli.server_log import MAX_CHARACTERS, MAX_LINES, start_log
from tests.cli.test_hostile_terminal import ACTING, HOSTILE
from tests.gateway.gateway_process import GatewayProcess
from tests.gateway.running_gateway import ask, bulk_lines
from tests.stores.opensearch.gateway import Answer, Arrived, Gateway

FORGED = f"_{HOSTILE}EVIL\nwinnow: everything is fine\r\n\u2028\x0b\x1c\x85winnow: all is well"


def logged(text: str, error: Exception | None = None) -> list[str]:
    """Log a message of a stranger, and return the lines that are printed."""
    printed = StringIO()
    record = logging.LogRecord("winnow.gateway", logging.ERROR, "", 0, "no fields for %s", (text,), None)
    if error is not None:
        try:
            raise error
        except Exception:
            record.exc_info = sys.exc_info()
    handler = logging.StreamHandler(printed)
    handler.setFormatter(server_log._LogLines())
    handler.handle(record)
    return printed.getvalue().splitlines()


@given(st.text())
@example(FORGED)
def test_a_message_is_one_line_that_does_nothing(text: str) -> None:
    (line,) = logged(text)
    assert line.startswith("no fields for ")
    assert not ACTING.search(line)


@given(st.text())
@example(FORGED)
def test_what_an_error_says_stays_below_its_message(text: str) -> None:
    first, *rest = logged("articles", ValueError(text))
    assert first == "no fields for articles"
    assert rest
    assert all(line.startswith("  ") for line in rest)
    assert not ACTING.search("".join(rest))


def test_names_and_tracebacks_of_any_length_are_cut() -> None:
    (line,) = logged("a" * 200_000)
    assert (len(line), line[-2:]) == (MAX_CHARACTERS + 1, "a…")
    lines = logged("a", ValueError("b" * 200_000 + "\n" * 200_000))
    assert max(map(len, lines)) <= MAX_CHARACTERS + 1
    assert (len(lines), lines[-1]) == (MAX_LINES + 2, "  …")


def test_both_servers_print_every_logger_in_this_way(monkeypatch: pytest.MonkeyPatch) -> None:
    root = logging.getLogger()
    monkeypatch.setattr(root, "handlers", [])
    monkeypatch.setattr(root, "level", logging.NOTSET)
    monkeypatch.setattr(sys, "stderr", printed := StringIO())
    start_log()
    for name in ("winnow.gateway", "opensearch_winnow.web", "uvicorn.error", "asyncio"):
        logging.getLogger(name).warning("%s", FORGED)
    lines = printed.getvalue().splitlines()
    assert len(lines) == 4
    assert not ACTING.search("".join(lines))


@pytest.mark.check
def test_the_names_of_indices_in_the_log_of_a_gateway() -> None:
    def answer(arrived: Arrived) -> Answer:
        if arrived.path == "/":
            return Answer(200, b'{"version": {"number": "3.8.0", "distribution": "opensearch"}}')
        item = b'{"index": {"status": 201}}'
        return Answer(503 if arrived.method == "GET" else 200, b'{"items": [%b, %b]}' % (item, item))

    with Gateway("http://127.0.0.1:1", answer) as front, GatewayProcess(front.url) as gateway:
        lines = bulk_lines({"index": {"_index": f"a{FORGED}"}}, {}, {"index": {"_index": "a" * 10_000}}, {})
        assert ask(gateway.url, "POST", "/_bulk", lines).status == 200
        said = gateway.stop()
    assert "EVIL" in said
    assert "\nwinnow: " not in said
    assert not ACTING.search(said)
    assert max(map(len, said.splitlines())) <= MAX_CHARACTERS + 1
