"""Questions that take long, clients that leave, and clients that keep the server waiting."""

from __future__ import annotations

import asyncio
import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import ServerState

from opensearch_winnow.foundation import admission
from opensearch_winnow.index import Index
from opensearch_winnow.operations.asking import similar
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.web.app import make_app
from opensearch_winnow.web.served import ServedStore
from opensearch_winnow.web.server_options import ServerOptions
from opensearch_winnow.web.serving.punctual_connection import PunctualConnection
from tests.web.known_crawl_fixture import PAGES
from tests.web.served_fixture import TIMEOUT_SECONDS, Asking, Reply, connected, head, serving_app

TEXT = next(page.text for page in PAGES if page.text)
ASKED = {"text": TEXT}
QUESTION = json.dumps(ASKED).encode()
Scored = Callable[..., Any]


def app_of(store: Path, **options: Any) -> ASGIApp:
    return make_app(ServedStore.named(str(store)), ServerOptions(**options))


@contextmanager
def served_slowly(
    store: Path, monkeypatch: pytest.MonkeyPatch, before_each: Callable[[], object], **options: Any
) -> Iterator[Asking]:
    """Serve a store that calls `before_each` before it scores a candidate."""
    scored: Scored = SimilarPages._exact_scores

    def slowly(*arguments: Any) -> Any:
        before_each()
        return scored(*arguments)

    monkeypatch.setattr(SimilarPages, "_exact_scores", slowly)
    with serving_app(app_of(store, **options)) as served:
        yield served


@pytest.mark.check
def test_after_the_time_limit_the_answer_is_what_was_found_until_then(
    known_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served_slowly(known_file, monkeypatch, lambda: time.sleep(0.2), max_seconds=0.1) as served:
        answer = served.post("/api/v1/quotes", ASKED).json
        assert 0 < answer["unscored"] < answer["candidates"]
        assert "that were compared in time" in answer["answer"]
        pasted = served.post("/paste", ASKED).headers["location"]
        assert "were not compared, so there may be more matches." in served.get(pasted).text


def test_popular_text_is_compared_with_some_pages(known_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(similar, "MIN_COMPARED", 3)
    with serving_app(app_of(known_file)) as served:
        answer = served.post("/api/v1/quotes?limit=1", ASKED).json
        assert answer["uncompared"] == answer["candidates"] - 3 > 0
        note = f"Compared the 3 captures that share the most; {answer['uncompared']} others share a passage, too."
        pasted = served.post("/paste", ASKED).headers["location"]
        assert note in served.get(f"{pasted}?limit=1").text


@pytest.mark.check
def test_a_question_whose_client_has_left_is_cancelled(known_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started, scored = Event(), []

    def wait() -> None:
        started.set()
        scored.append(time.monotonic())
        time.sleep(0.3)

    with served_slowly(known_file, monkeypatch, wait) as served:
        with connected(served) as client:
            client.sendall(head("/api/v1/quotes", len(QUESTION)) + QUESTION)
            assert started.wait(TIMEOUT_SECONDS)
        left = time.monotonic()
        assert served.get("/search?words=mill").status == 200
        whole = served.post("/api/v1/quotes", ASKED).json
        after = sum(at > left for at in scored)
        # The second question scored each of its candidates; of the first, at most the one at hand was finished.
        assert after - (whole["candidates"] - whole["unscored"]) <= 1


@pytest.mark.check
def test_long_questions_leave_a_thread_for_others(known_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    may_go_on = Event()
    replies: list[Reply] = []
    with served_slowly(known_file, monkeypatch, lambda: may_go_on.wait(TIMEOUT_SECONDS)) as served:
        asking = [Thread(target=lambda: replies.append(served.post("/api/v1/quotes", ASKED))) for _ in range(8)]
        for each in asking:
            each.start()
        for path in ("/", "/search?words=mill", "/clusters", "/api/v1/suggest?words=mill"):
            assert served.get(path).status == 200
        assert not replies
        may_go_on.set()
        for each in asking:
            each.join()
    assert [reply.status for reply in replies] == [200] * 8


# --- connections ------------------------------------------------------------------------------------------------------


class Impatient(PunctualConnection):
    check_seconds = 0.5


@pytest.fixture(scope="module")
def impatient(known_file: Path) -> Iterator[Asking]:
    """A server that looks at its connections every half second."""
    with serving_app(app_of(known_file), http=Impatient) as served:
        yield served


def test_a_request_that_does_not_arrive_is_not_waited_for(impatient: Asking) -> None:
    some = b"GET /search?words=mi", b"GET / HTTP/1.1\r\nHost: localhost\r\n", head("/paste", 100) + b'{"text": "'
    with ExitStack() as stack:
        clients = [stack.enter_context(connected(impatient)) for _ in range(4)]  # one of them sends nothing
        for client, sent in zip(clients, some, strict=False):
            client.sendall(sent)
        assert all(map(closes, clients))


async def waiting_when_accepted() -> tuple[float, float | None]:
    now = asyncio.get_running_loop().time()
    return now, PunctualConnection(Config(app=lambda: None), ServerState(), {}).waiting_since(now)


def test_a_connection_waits_from_its_acceptance_on() -> None:
    """Otherwise one that is accepted just now, or in the middle of a handshake, would be the first to make room."""
    now, since = asyncio.run(waiting_when_accepted())
    assert since is not None
    assert since >= now


def test_connections_that_wait_longest_make_room(
    known_file: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(admission, "SCAN_SECONDS", 0.0)  # a few connections are looked through in no time
    with ExitStack() as stack:
        served = stack.enter_context(serving_app(app_of(known_file), max_connections=5))
        waiting = []
        for _ in range(9):
            waiting.append(client := stack.enter_context(connected(served)))
            client.sendall(b"GET / HTTP/1.1\r\nHost: loc")
            assert served.get("/api/v1/health").status == 200
        assert all(closes(client) for client in waiting[:4])
        waiting[-1].sendall(b"alhost\r\n\r\n")
        assert waiting[-1].recv(100).startswith(b"HTTP/1.1 200 ")
    said = [message for message in caplog.messages if "connections" in message]
    assert said == ["5 connections are open: those that have waited longest make room"]


def test_a_request_that_is_being_answered_never_makes_room(caplog: pytest.LogCaptureFixture) -> None:
    may_end, started = Event(), Event()

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        started.set()
        while not may_end.is_set():
            await asyncio.sleep(0.01)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"whole"})

    with serving_app(answer, max_connections=1, lifespan="off") as served, connected(served) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        assert started.wait(TIMEOUT_SECONDS)
        refused = None
        while refused is None:
            with suppress(ConnectionError):  # if the request comes after its answer
                refused = served.get("/")
        assert (refused.status, refused.headers["retry-after"]) == (503, "2")
        assert "too many connections" in refused.json["error"]
        may_end.set()
        assert b"whole" in client.makefile("rb").read()
    assert sum("are busy" in message for message in caplog.messages) == 1


@pytest.mark.check
def test_a_byte_now_and_then_does_not_keep_a_connection(impatient: Asking) -> None:
    with connected(impatient) as client:
        client.sendall(b"GET / HTTP/1.1\r\n")

        def go_on() -> None:
            for _ in range(20 * TIMEOUT_SECONDS):
                client.sendall(b"X")
                time.sleep(0.05)

        with pytest.raises(ConnectionError):
            go_on()


@pytest.mark.check
def test_an_answer_that_is_not_read_is_not_kept() -> None:
    sent = Event()

    async def answer(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": bytes(50_000_000), "more_body": True})
        await send({"type": "http.response.body", "body": b""})
        sent.set()  # the client has read it, or is gone

    with serving_app(answer, http=Impatient, lifespan="off") as served, connected(served) as client:
        client.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert sent.wait(TIMEOUT_SECONDS)
        read = 0
        with suppress(ConnectionError):
            while some := client.recv(1_000_000):
                read += len(some)
        assert read < 50_000_000


@pytest.mark.check
def test_a_connection_in_use_stays_open(impatient: Asking) -> None:
    with connected(impatient) as client:
        for _ in range(5):
            client.sendall(b"HEAD /static/favicon.svg HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert client.recv(10_000).startswith(b"HTTP/1.1 ")
            time.sleep(0.3)


@pytest.mark.check
def test_an_answer_that_takes_long_is_waited_for(known_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PunctualConnection, "check_seconds", 0.1)

    def open_slowly() -> Index:
        time.sleep(0.5)
        return Index.open(known_file, create=False)

    store = ServedStore(str(known_file), open_slowly)
    with serving_app(make_app(store), http=PunctualConnection) as served:
        assert served.get("/search?words=mill").status == 200


def closes(client: socket.socket) -> bool:
    """Return whether the server closes the connection."""
    try:
        return client.recv(1) == b""
    except ConnectionError:
        return True
