"""Which requests `winnow serve` accepts, and what a browser may do with the answers."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from threading import Event, Thread
from urllib.parse import quote, urlsplit

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.web import app as web_app
from opensearch_winnow.web.app import ACTIONS, make_app
from opensearch_winnow.web.form import MAX_BODY_BYTES
from opensearch_winnow.web.served import ServedStore
from opensearch_winnow.web.serving.guard import COOKIE, HEADERS
from tests.web.conftest import Serve
from tests.web.served_fixture import TIMEOUT_SECONDS, Asking, Reply, Served, serving, serving_app

TOKEN = "s3cret;tok'en\"="  # what a cookie would rather not have
IN_ADDRESS = quote(TOKEN)
FORM = "application/x-www-form-urlencoded"


def in_raw_bytes(served: Asking, request: bytes) -> bytes:
    """Send raw bytes that no library would send, and return the whole answer."""
    parts = urlsplit(served.address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=TIMEOUT_SECONDS) as connection:
        connection.sendall(request)
        answer = b""
        while piece := connection.recv(65_536):
            answer += piece
    return answer


# --- the host name of a request ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST:1234", "127.0.0.1", "127.0.0.1:80", "[::1]:8765", "[::1]"])
def test_it_is_asked_by_its_own_names(served_file: Served, host: str) -> None:
    assert served_file.get("/", host=host).status == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:80", "", "::1", "x:"]
)
def test_it_is_not_asked_by_the_name_of_somebody_else(served_file: Served, host: str) -> None:
    reply = served_file.get("/", host=host)
    assert (reply.status, reply.headers["content-type"]) == (421, "text/plain; charset=utf-8")
    assert "--host" in reply.text


def test_a_request_without_a_name(served_file: Served) -> None:
    assert re.match(rb"HTTP/1.1 4(21|00) ", in_raw_bytes(served_file, b"GET / HTTP/1.0\r\n\r\n"))


# --- the token --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def with_token(known_file: Path) -> Iterator[Served]:
    with serving(known_file, "--token", TOKEN) as found:
        yield found


def test_the_token_of_the_address_becomes_a_cookie(with_token: Served) -> None:
    first = with_token.get(f"/search?words=mill&token={IN_ADDRESS}&min_resemblance=0.8")
    assert (first.status, first.headers["location"]) == (303, "/search?words=mill&min_resemblance=0.8")
    cookie = first.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    assert with_token.get("/search?words=mill", cookie=cookie.partition(";")[0]).status == 200


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_cookie_of_a_server_with_tls_is_sent_to_nothing_else(with_token: Served, scheme: str) -> None:
    """A proxy on this machine is trusted, as uvicorn does by default."""
    reply = with_token.get(f"/?token={IN_ADDRESS}", x_forwarded_proto=scheme)
    assert ("Secure" in reply.headers["set-cookie"].split("; ")) == (scheme == "https")


def test_who_has_the_cookie_does_not_keep_the_token_in_the_address(with_token: Served) -> None:
    cookie = with_token.get(f"/?token={IN_ADDRESS}").headers["set-cookie"].partition(";")[0]
    again = with_token.get(f"/search?words=mill&token={IN_ADDRESS}", cookie=cookie)
    assert (again.status, again.headers["location"]) == (303, "/search?words=mill")


def test_the_token_leads_nowhere_else(with_token: Served) -> None:
    for path in ("//evil.example/", "///evil.example/", "/\\evil.example/", "/%5Cevil.example/", "//evil.example:80"):
        reply = with_token.get(f"{path}?token={IN_ADDRESS}")
        assert reply.status == 303
        assert re.match(r"/(?![/\\])", reply.headers["location"])


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/", {"authorization": f"Bearer {TOKEN}"}),
        ("/api/v1/search?words=mill", {"authorization": f"bearer  {TOKEN} "}),
        ("/static/winnow.css", {"authorization": f"Bearer {TOKEN}"}),
    ],
)
def test_a_program_sends_the_token(with_token: Served, path: str, headers: dict[str, str]) -> None:
    assert with_token.get(path, **headers).status == 200


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"authorization": "Bearer "},
        {"authorization": "Bearer s3cret"},
        {"authorization": f"Bearer {TOKEN}x"},
        {"authorization": f"Basic {TOKEN}"},
        {"authorization": "Bearer \xff\xfe"},
        {"cookie": f"{COOKIE}="},
        {"cookie": f"{COOKIE}=s3cret"},
        {"cookie": f"other={TOKEN}"},
        {"cookie": "\xff;;==;"},
    ],
)
@pytest.mark.parametrize(
    "path", ["/", "/search?words=mill", "/api/v1/search?words=mill", "/static/winnow.css", "/nothing", "/?token=s"]
)
def test_without_the_token_nothing_is_told(with_token: Served, path: str, headers: dict[str, str]) -> None:
    reply = with_token.get(path, **headers)
    assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer")
    assert "mill" not in reply.text
    assert TOKEN not in reply.text


# --- what is sent -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "let_in"),
    [
        ({}, True),  # a program
        ({"sec_fetch_site": "same-origin"}, True),
        ({"sec_fetch_site": "none"}, True),
        ({"sec_fetch_site": "same-origin", "origin": "https://winnow.example"}, True),  # through a server with TLS
        ({"sec_fetch_site": "cross-site"}, False),
        ({"sec_fetch_site": "same-site"}, False),  # another port of this machine
        ({"origin": "http://localhost:1"}, False),
        ({"origin": "http://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"origin": "http://localhost:8765", "host": "localhost:8765"}, True),
    ],
)
def test_only_our_own_pages_send_something(served_file: Served, headers: dict[str, str], let_in: bool) -> None:
    reply = served_file.send("/paste", b"text=some", content_type=FORM, **headers)
    assert (reply.status == 403) != let_in
    if not let_in:
        assert "Only pages of this server" in reply.text


@pytest.mark.check
def test_a_body_that_is_too_long_is_refused_before_it_is_read(served_file: Served) -> None:
    head = (
        f"POST /paste HTTP/1.1\r\nHost: localhost\r\nContent-Length: {MAX_BODY_BYTES + 1}\r\nConnection: close\r\n\r\n"
    )
    answer = in_raw_bytes(served_file, head.encode())
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"At most 16 MB can be sent at once" in answer


def test_a_body_that_turns_out_too_long(served_file: Served) -> None:
    piece = b"text=" + b"x" * (MAX_BODY_BYTES // 4)

    def pieces() -> Iterator[bytes]:
        for _ in range(5):
            yield piece

    reply = _chunked(served_file, pieces())
    if reply is not None:
        assert reply.status == 413
        assert "At most 16 MB can be sent at once" in reply.text
    assert served_file.get("/").status == 200


def _chunked(served: Served, pieces: Iterator[bytes]) -> Reply | None:
    """Send a chunked body and return the answer, or None if the connection was closed before its end."""
    try:
        return served.send("/paste", pieces, content_type=FORM, transfer_encoding="chunked")
    except (BrokenPipeError, ConnectionResetError):
        return None


@pytest.mark.parametrize(
    ("body", "kind"),
    ids=count(),
    argvalues=[
        (b"", FORM),
        (b"\xff\xfe%zz&&==", FORM),
        (b"&".join(b"a%d=1" % number for number in range(1_000)), FORM),
        (b"{", "application/json"),
        (b"[1, 2]", "application/json"),
        (b'{"text": 1}', "application/json"),
        (b"\xff", "application/json; charset=latin-1"),
        (b"nothing of the kind", "multipart/form-data; boundary=x"),
        (
            b"--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n\xff\0",
            "multipart/form-data; boundary=x",
        ),
        (b"text", "text/plain"),
        (b"text", "multipart/form-data"),
        (b"text", ""),
    ],
)
@pytest.mark.parametrize("path", ["/paste", "/api/v1/quotes"], ids=["form", "api"])
def test_what_is_no_form_is_refused_in_words(served_file: Served, path: str, body: bytes, kind: str) -> None:
    reply = served_file.send(path, body, content_type=kind)
    assert reply.status in (303, 400)
    if path.startswith("/api"):
        assert reply.status == 400
        assert reply.json["error"]


def test_who_may_only_read_cannot_write(served_file: Served) -> None:
    for action in ACTIONS:
        path = re.sub(r"{\w+}", "0" * 32, action.path)
        reply = served_file.send(path, b"name=x&text=y", content_type=FORM)
        assert (reply.status == 403) == action.writes, action.path
        if action.writes:
            assert "--write" in reply.text


# --- the answers ------------------------------------------------------------------------------------------------------

ANSWERS = {
    "/": 200,
    "/search?words=mill": 200,
    "/search.json?words=mill": 200,
    "/search.csv?words=mill": 200,
    "/api/v1/search?words=mill": 200,
    "/api/v1/openapi.json": 200,
    "/static/winnow.css": 200,
    "/static/nothing.css": 404,
    "/static/": 404,
    "/nothing": 404,
    "/search?min_resemblance=many": 400,
    "/api/v1/search?min_resemblance=many": 400,
    "/api/v1/nothing": 404,
}  # fmt: skip


@pytest.mark.parametrize(("path", "status"), ANSWERS.items())
@pytest.mark.parametrize("method", ["GET", "HEAD", "OPTIONS", "DELETE", "PUT"])
def test_every_answer_has_the_headers(served_file: Served, path: str, status: int, method: str) -> None:
    reply = served_file.get(path, method=method)
    assert reply.status in ((status,) if method in ("GET", "HEAD") else (404, 405))
    assert HEADERS.items() <= reply.headers.items()
    assert "cache-control" in reply.headers
    assert "server" not in reply.headers
    if method == "HEAD":
        assert reply.body == b""


def test_the_policy_lets_nothing_in() -> None:
    rules = dict(rule.split(" ", 1) for rule in HEADERS["content-security-policy"].split("; "))
    assert rules.pop("default-src") == "'none'"
    assert {rules.pop(name) for name in ("base-uri", "frame-ancestors")} == {"'none'"}
    assert set(rules.values()) == {"'self'"}


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/%2e%2e/app.py",
        "/static/..%2fapp.py",
        "/static/....//app.py",
        "/static//etc/passwd",
        "/static/%2fetc/passwd",
        "/static/..%5capp.py",
        "/static/%00",
        "/static/winnow.css%00.js",
        "/../app.py",
        "/templates/base.html",
    ],
)
def test_no_other_file_is_told(served_file: Served, path: str) -> None:
    answer = in_raw_bytes(served_file, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
    assert re.match(rb"HTTP/1.1 40[04] ", answer)
    assert b"import" not in answer


def test_an_address_of_a_hundred_thousand_characters(served_file: Served) -> None:
    for path in ("/search?words=" + "x" * 100_000, "/" + "x" * 100_000):
        answer = in_raw_bytes(
            served_file, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode()
        )
        assert re.match(rb"HTTP/1.1 4\d\d ", answer)
        assert len(answer) < 10_000
    assert served_file.get("/").status == 200


@pytest.mark.parametrize(
    "noise",
    [
        b"\r\n\r\n",
        b"\0" * 5_000,
        b"GET\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
        b"GET / HTTP/9.9\r\n\r\n",
    ],
)
def test_what_is_no_request(served_file: Served, noise: bytes) -> None:
    parts = urlsplit(served_file.address)
    with socket.create_connection((parts.hostname or "", parts.port or 0), timeout=TIMEOUT_SECONDS) as connection:
        connection.sendall(noise)
    assert served_file.get("/").status == 200


# --- what cannot be brought about from outside ------------------------------------------------------------------------


def test_when_too_much_is_asked_who_comes_late_is_told(known_file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_app, "THREADS", 1)
    monkeypatch.setattr(web_app, "MAX_WAITING_REQUESTS", 0)
    started, may_answer = Event(), Event()

    def open_slowly() -> Index:
        started.set()
        assert may_answer.wait(TIMEOUT_SECONDS)
        return Index.open(known_file, create=False)

    replies: list[Reply] = []
    with serving_app(make_app(ServedStore("slow", open_slowly))) as served:
        first = Thread(target=lambda: replies.append(served.get("/search?words=mill")))
        first.start()
        assert started.wait(TIMEOUT_SECONDS)
        for path in ("/search?words=mill", "/api/v1/search?words=mill"):
            late = served.get(path)
            assert (late.status, late.headers["retry-after"]) == (503, "2")
            assert "try again in a moment" in late.text
        may_answer.set()
        first.join()
        assert replies[0].status == 200
        assert served.get("/search?words=mill").status == 200


def test_a_fault_of_ours_is_guarded_and_tells_nothing(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Index:
        raise RuntimeError("a secret of the inside")

    monkeypatch.setattr(web_app, "openapi", fail)
    with serving_app(make_app(ServedStore("broken", fail))) as served:
        for path in ("/search?words=mill", "/api/v1/search?words=mill", "/api/v1/openapi.json"):
            reply = served.get(path)
            assert reply.status == 500
            assert HEADERS.items() <= reply.headers.items()
            assert "secret" not in reply.text
    assert "a secret of the inside" in caplog.text


def test_a_store_that_is_written_may_be_asked(own_file: Path, serve: Serve) -> None:
    served = serve(own_file, "--write")
    assert "Visitors may change it" in served.said
    assert served.get("/search?words=mill").status == 200
