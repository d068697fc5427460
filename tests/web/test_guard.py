"""Which requests `winnow serve` accepts, how it refuses others, and what a browser may do with the answers."""

from __future__ import annotations

import gzip
import re
from itertools import repeat
from pathlib import Path
from threading import Event, Thread
from urllib.parse import quote

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.web import app as web_app
from opensearch_winnow.web.app import ACTIONS, make_app
from opensearch_winnow.web.form import MAX_BODY_BYTES
from opensearch_winnow.web.served import ServedStore
from opensearch_winnow.web.serving.guard import COOKIE, HEADERS
from tests.web.conftest import TOKEN
from tests.web.served_fixture import FORM, TIMEOUT_SECONDS, Asking, Reply, Served, connected, serving_app

IN_ADDRESS = quote(TOKEN)


def in_raw_bytes(served: Asking, request: bytes) -> bytes:
    """Send raw bytes that no library would send, and return the whole answer."""
    with connected(served) as connection:
        connection.sendall(request)
        return connection.makefile("rb").read()


def raw(path: str, method: str = "GET", headers: str = "") -> bytes:
    return f"{method} {path} HTTP/1.1\r\nHost: localhost\r\n{headers}Connection: close\r\n\r\n".encode()


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
    assert re.match(rb"HTTP/1.1 4(21|00) ", in_raw_bytes(served_file, b"GET / HTTP/1.0\r\n\r\n"))  # without a name


# --- the token --------------------------------------------------------------------------------------------------------


def test_the_token_of_the_address_becomes_a_cookie(with_token: Served) -> None:
    first = with_token.get(f"/search?words=mill&token={IN_ADDRESS}&min_resemblance=0.8")
    assert (first.status, first.headers["location"]) == (303, "/search?words=mill&min_resemblance=0.8")
    cookie = first.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict"} <= set(cookie.split("; "))
    sent = cookie.partition(";")[0]
    assert with_token.get("/search?words=mill", cookie=sent).status == 200
    again = with_token.get(f"/search?words=mill&token={IN_ADDRESS}", cookie=sent)
    assert (again.status, again.headers["location"]) == (303, "/search?words=mill")


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_the_cookie_of_a_server_with_tls_is_sent_to_nothing_else(with_token: Served, scheme: str) -> None:
    """A proxy on this machine is trusted, as uvicorn does by default."""
    reply = with_token.get(f"/?token={IN_ADDRESS}", x_forwarded_proto=scheme)
    assert ("Secure" in reply.headers["set-cookie"].split("; ")) == (scheme == "https")


def test_the_token_leads_nowhere_else(with_token: Served) -> None:
    for path in ("//evil.example/", "///evil.example/", "/\\evil.example/", "/%5Cevil.example/", "//evil.example:80"):
        reply = with_token.get(f"{path}?token={IN_ADDRESS}")
        assert reply.status == 303
        assert re.match(r"/(?![/\\])", reply.headers["location"])


def test_a_program_sends_the_token(with_token: Served) -> None:
    for path, kind in (("/", "Bearer"), ("/search.json?words=mill", "bearer "), ("/static/winnow.css", "Bearer")):
        assert with_token.get(path, authorization=f"{kind} {TOKEN} ").status == 200


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("x_none", [""]),
        ("authorization", ["Bearer ", "Bearer s3cret", f"Bearer {TOKEN}x", f"Basic {TOKEN}", "Bearer \xff\xfe"]),
        ("cookie", [f"{COOKIE}=", f"{COOKIE}=s3cret", f"other={TOKEN}", "\xff;;==;"]),
    ],
)
@pytest.mark.parametrize(
    "path", ["/", "/search?words=mill", "/api/v1/search?words=mill", "/static/winnow.css", "/nothing", "/?token=s"]
)
def test_without_the_token_nothing_is_told(with_token: Served, path: str, header: str, values: list[str]) -> None:
    for value in values:
        reply = with_token.get(path, **{header: value})
        assert (reply.status, reply.headers["www-authenticate"]) == (401, "Bearer"), value
        assert "mill" not in reply.text
        assert TOKEN not in reply.text


def test_the_page_of_a_refusal_says_nothing_of_the_store(with_token: Served, served_file: Served) -> None:
    browser = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
    too_long = b"text=" + b"x" * MAX_BODY_BYTES
    for status, reply in (
        (401, with_token.get("/search?words=mill", **browser)),
        (421, served_file.get("/search?words=mill", host="evil.example", **browser)),
        (403, served_file.send("/paste", b"text=some", content_type=FORM, sec_fetch_site="cross-site", **browser)),
        (413, served_file.send("/paste", too_long, content_type=FORM, **browser)),
    ):
        assert (reply.status, reply.headers["content-type"]) == (status, "text/html; charset=utf-8")
        assert reply.heading
        assert reply.tree.findtext(".//main/p")
        assert reply.tree.xpath("//@href | //@src") == []  # nothing that would be refused, too
        assert "known.winnow" not in reply.text
        policy = reply.headers["content-security-policy"]
        rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
        assert re.fullmatch(r"'sha256-[^']+'", rules.pop("style-src"))
        assert rules == dict.fromkeys(("default-src", "base-uri", "form-action", "frame-ancestors"), "'none'")
        assert {**HEADERS, "content-security-policy": policy}.items() <= reply.headers.items()


def test_a_program_is_refused_in_json(with_token: Served, served_file: Served) -> None:
    for path in ("/api/v1/search?words=mill", "/search.json?words=mill"):
        reply = with_token.get(path, accept="text/html")
        assert (reply.status, reply.headers["content-type"]) == (401, "application/json")
        assert "A token is required" in reply.json["error"]
    reply = served_file.post("/api/v1/quotes", {"text": "x" * MAX_BODY_BYTES})
    assert (reply.status, "At most 16 MB" in reply.json["error"]) == (413, True)


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
    assert ("Only pages of this server" in reply.text) != let_in


@pytest.mark.check
def test_a_body_that_is_too_long_is_refused_before_it_is_read(served_file: Served) -> None:
    head = raw("/paste", "POST", f"Content-Length: {MAX_BODY_BYTES + 1}\r\n")
    answer = in_raw_bytes(served_file, head)
    assert answer.startswith(b"HTTP/1.1 413 ")
    assert b"At most 16 MB can be sent at once" in answer


def test_a_body_that_turns_out_too_long(served_file: Served) -> None:
    piece = b"text=" + b"x" * (MAX_BODY_BYTES // 4)

    try:
        reply = served_file.send("/paste", repeat(piece, 5), content_type=FORM, transfer_encoding="chunked")
        assert (reply.status, "At most 16 MB" in reply.text) == (413, True)
    except (BrokenPipeError, ConnectionResetError):
        pass  # it was closed before its end
    assert served_file.get("/").status == 200


@pytest.mark.parametrize(
    ("kind", "bodies"),
    [
        (FORM, [b"", b"\xff\xfe%zz&&==", b"&".join(b"a%d=1" % number for number in range(1_000))]),
        ("application/json", [b"{", b"[1, 2]", b'{"text": 1}']),
        ("application/json; charset=latin-1", [b"\xff"]),
        (
            "multipart/form-data; boundary=x",
            [b"nothing", b"--x\r\nContent-Disposition: form-data; name=file; filename=a\r\n\r\n\xff\0"],
        ),
        *((kind, [b"text"]) for kind in ("text/plain", "multipart/form-data", "")),
    ],
)
def test_what_is_no_form_is_refused_in_words(served_file: Served, kind: str, bodies: list[bytes]) -> None:
    for body in bodies:
        assert served_file.send("/paste", body, content_type=kind).status in (303, 400)
        reply = served_file.send("/api/v1/quotes", body, content_type=kind)
        assert reply.status == 400
        assert reply.json["error"]


def test_who_may_only_read_cannot_write(served_file: Served) -> None:
    for action in ACTIONS:
        path = re.sub(r"{\w+}", "0" * 32, action.path)
        reply = served_file.form(path, name="x", text="y")
        assert (reply.status == 403) == action.writes, action.path
        assert ("--write" in reply.text) == action.writes


# --- the answers ------------------------------------------------------------------------------------------------------

FOUND = "/ /search?words=mill /search.json?words=mill /search.csv?words=mill /api/v1/openapi.json /static/winnow.css"
ANSWERS = {
    **dict.fromkeys([*FOUND.split(), "/api/v1/search?words=mill"], 200),
    **dict.fromkeys(["/static/nothing.css", "/static/", "/nothing", "/api/v1/nothing"], 404),
    **dict.fromkeys(["/search?min_resemblance=many", "/api/v1/search?min_resemblance=many"], 400),
}


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


def test_no_other_file_is_told(served_file: Served) -> None:
    static = (
        "../app.py %2e%2e/app.py ..%2fapp.py ....//app.py /etc/passwd %2fetc/passwd ..%5capp.py %00 winnow.css%00.js"
    )
    for path in (*(f"/static/{name}" for name in static.split()), "/../app.py", "/templates/base.html"):
        answer = in_raw_bytes(served_file, raw(path))
        assert re.match(rb"HTTP/1.1 40[04] ", answer), path
        assert b"import" not in answer


def test_an_address_of_a_hundred_thousand_characters(served_file: Served) -> None:
    for path in ("/search?words=" + "x" * 100_000, "/" + "x" * 100_000):
        answer = in_raw_bytes(served_file, raw(path))
        assert re.match(rb"HTTP/1.1 4\d\d ", answer)
        assert len(answer) < 10_000
    assert served_file.get("/").status == 200


def test_what_is_no_request(served_file: Served) -> None:
    hello = b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"  # of TLS
    for noise in (b"\r\n\r\n", b"\0" * 5_000, b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", hello):
        with connected(served_file) as connection:
            connection.sendall(noise)
    assert served_file.get("/").status == 200


PATHS = ["/search?words=mill", "/search.json?words=mill", "/search.csv?words=mill", "/static/winnow.css"]
TIMES = re.compile(r'\d[\d.]* m?s\b|"seconds":[\d.e-]+')


@pytest.mark.parametrize("path", PATHS)
def test_an_answer_is_compressed_for_those_who_want_it(served_file: Served, path: str) -> None:
    plain = served_file.get(path)
    packed = served_file.get(path, accept_encoding="gzip, deflate, br")
    assert "content-encoding" not in plain.headers
    assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
    assert plain.headers["vary"] == "Accept-Encoding"
    assert int(packed.headers["content-length"]) == len(packed.body) < len(plain.body) * 0.7
    assert TIMES.sub("", gzip.decompress(packed.body).decode()) == TIMES.sub("", plain.text)
    assert HEADERS.items() <= packed.headers.items()
    small = served_file.get("/api/v1/quotes", accept_encoding="gzip")
    assert (small.status, "content-encoding" in small.headers) == (200, False)


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
