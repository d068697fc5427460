"""Findings reach the operator's command and webhook; an address that was not allowed is never connected to."""

from __future__ import annotations

import json
import re
import shlex
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer
from ipaddress import IPv4Address, IPv6Address, ip_network
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from hypothesis import given
from hypothesis.strategies import integers, ip_addresses, sampled_from

from opensearch_winnow.mappings.finding import Finding
from opensearch_winnow.operations.asking import notifier, webhook
from opensearch_winnow.operations.asking.notifier import Notifier, NotifyError
from opensearch_winnow.operations.asking.webhook import MAX_TRIES, Webhook, WebhookError, is_public

AT, URL = datetime(2026, 11, 1, 12, tzinfo=UTC), "https://b.example/'; touch hostile; '"
TEXTS = {"watch": "$(touch hostile)", "title": "\x1b[2J`touch hostile`"}
FINDING = Finding(at=AT, id="0" * 32, url=URL, fetched_at=None, containment=0.75, longest=700, **TEXTS)


class Receiver(HTTPServer):
    """Keeps what is posted, and answers with the given statuses; the last one again and again."""

    def __init__(self, *answers: int | str) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers: list[int | str] = list(answers) or [200]  # a string: redirect there
        self.posted: list[tuple[str, str, Any]] = []  # host, path and body
        self.url = f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.posted.append((self.headers["Host"], self.path, json.loads(body)))
        answer = self.server.answers.pop(0) if len(self.server.answers) > 1 else self.server.answers[0]
        self.send_response(answer if isinstance(answer, int) else 307)
        if isinstance(answer, str):
            self.send_header("Location", answer)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def receiving(*answers: int | str) -> Iterator[Receiver]:
    with Receiver(*answers) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def patient(url: str, pauses: list[float] | None = None, **options: Any) -> Webhook:
    """Return a webhook that may call this machine, and does not wait between its tries."""
    return Webhook(url, **{"private": True} | options, pause=(pauses if pauses is not None else []).append)


# --- the webhook ------------------------------------------------------------------------------------------------------


def test_findings_are_posted_as_json() -> None:
    with receiving() as server, Notifier(webhook=patient(f"{server.url}/hook?key=secret")) as told:
        told.add([FINDING, replace(FINDING, watch="other")])
    assert told.problems == []
    ((host, path, posted),) = server.posted
    assert (host, path) == (server.url.removeprefix("http://"), "/hook?key=secret")
    assert [Finding.from_document(each) for each in posted["findings"]] == [FINDING, replace(FINDING, watch="other")]


def test_this_machine_and_private_networks_are_refused() -> None:
    with receiving() as server:
        for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "2130706433", "127.1"):
            with pytest.raises(WebhookError, match="is an address of this machine or of a private network"):
                Webhook(f"http://{host}:{server.server_port}/").post({})
    assert server.posted == []


PUBLIC = """
    93.184.216.34 2606:2800:220:1::1 ::ffff:93.184.216.34 64:ff9b::5db8:d822 2002:5db8:d822::1 ::ffff:0:93.184.216.34
    2606:2800:220:1:0:5efe:93.184.216.34
"""
NOT_PUBLIC = """
    127.0.0.1 10.1.2.3 172.16.0.1 192.168.1.1 100.64.0.1 0.0.0.0 224.0.0.1 255.255.255.255 ::1 :: fe80::1%eth0
    fd00:ec2::254 ::ffff:127.0.0.1 64:ff9b::7f00:1 64:ff9b:1::5db8:d822 2002:7f00:1:: ::127.0.0.1 ::ffff:0:127.0.0.1
    2606:2800:220:1:0:5efe:192.168.1.1 fd00::5efe:93.184.216.34
"""
CREDENTIALS_OF_CLOUDS, TEREDO_BY_THIS_MACHINE = "169.254.169.254", "2001:0:7f00:1::a247:27dd"


def test_public_addresses() -> None:
    assert [each for each in PUBLIC.split() if not is_public(each)] == []
    refused = *NOT_PUBLIC.split(), CREDENTIALS_OF_CLOUDS, TEREDO_BY_THIS_MACHINE
    assert [each for each in refused if is_public(each)] == []


PRIVATE = [ip_network(each) for each in ("0.0.0.0/8", "10.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16")]


@given(private=sampled_from(PRIVATE).flatmap(lambda network: ip_addresses(network=network)), rest=integers(0, 2**128))
def test_a_private_address_is_refused_in_every_form(private: IPv4Address, rest: int) -> None:
    inner, inverted = int(private), int(private) ^ 0xFFFF_FFFF
    quarter, public = rest & 0xFFFF_FFFF, 0x5DB8_D822
    forms = [
        inner,
        0xFFFF << 32 | inner,
        0xFFFF << 48 | inner,
        0x64_FF9B << 96 | inner,
        0x64_FF9B_0001 << 80 | rest & (1 << 80) - 1,
        0x2002 << 112 | inner << 80 | rest & (1 << 80) - 1,
        0x2001_0000 << 96 | public << 64 | quarter << 32 | inverted,
        0x2001_0000 << 96 | inner << 64 | quarter << 32 | public ^ 0xFFFF_FFFF,
        0x2606_2800 << 96 | quarter << 64 | 0x5EFE << 32 | inner,
        0x2606_2800 << 96 | quarter << 64 | 0x0200_5EFE << 32 | inner,
    ]
    assert [str(form) for form in map(IPv6Address, forms) if is_public(str(form))] == []


def test_a_name_that_leads_elsewhere_at_the_next_lookup_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each connection goes to the address that was checked for it, not to whatever the name means a moment later."""
    answers = iter([["93.184.216.34"], ["93.184.216.34", "10.0.0.1"]])
    connected: list[str] = []

    def refuse(address: tuple[str, int], timeout: float) -> socket.socket:  # noqa: ARG001
        connected.append(address[0])
        raise OSError("no route")

    monkeypatch.setattr(socket, "create_connection", refuse)
    hook = Webhook("http://rebind.example/", resolve=lambda *_: next(answers), pause=lambda _: None)
    with pytest.raises(WebhookError, match=r"rebind\.example is an address of this machine"):
        hook.post({})
    assert connected == ["93.184.216.34"]


def test_redirects_are_checked_too_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(webhook, "is_public", lambda address: address == "127.0.0.1" or is_public(address))
    names = {"hook.example": ["127.0.0.1"], "inside.example": ["10.0.0.1"]}
    with receiving("http://inside.example/") as server:
        hook = Webhook(f"http://hook.example:{server.server_port}/", resolve=lambda host, _: names[host])
        with pytest.raises(WebhookError, match=r"inside\.example is an address of this machine"):
            hook.post({})
        assert len(server.posted) == 1
    with receiving() as new, receiving(f"{new.url}/moved") as old:
        patient(old.url).post({"a": 1})
        assert [(path, body) for _, path, body in new.posted] == [("/moved", {"a": 1})]
    with receiving("/again") as server:
        with pytest.raises(WebhookError, match="redirects more than 3 times"):
            patient(server.url).post({})
        assert len(server.posted) == 4
    hook = patient("https://hook.example/")
    monkeypatch.setattr(hook, "_send", lambda target, body: (302, "http://hook.example/"))  # noqa: ARG005
    with pytest.raises(WebhookError, match="redirects from https to another scheme"):
        hook.post({})


def test_a_server_gets_three_tries_and_must_say_something(monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []
    with receiving(503, 429, 204) as server:
        patient(server.url, pauses).post({})
        assert (len(server.posted), pauses) == (3, [1.0, 2.0])
    for status, tries, said in ((500, MAX_TRIES, "in 3 tries: status 500"), (404, 1, "answered with status 404")):
        with receiving(status) as server:
            with pytest.raises(WebhookError, match=said):
                patient(f"{server.url}/secret").post({})
            assert len(server.posted) == tries
    with pytest.raises(WebhookError, match="did not accept it in 3 tries") as nobody:
        patient(f"{server.url}/secret").post({})
    assert "secret" not in str(nobody.value)
    monkeypatch.setattr(webhook, "TIMEOUT_SECONDS", 0.05)
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(WebhookError, match="timed out"):
        patient(f"http://127.0.0.1:{silent.getsockname()[1]}/").post({})


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        *((url, "begins with https") for url in ("file:///etc/passwd", "ftp://a.example/", "https://", "a.example")),
        ("http://hook.example:x/", "is not a URL"),
        ("https://user:secret@hook.example/", "has no user and password: hook.example"),
    ],
)
def test_addresses_that_are_none_are_refused_at_once(url: str, reason: str) -> None:
    with pytest.raises(WebhookError, match=reason) as refused:
        Webhook(url)
    assert "secret" not in str(refused.value)


# --- the command ------------------------------------------------------------------------------------------------------


def python(code: str, *arguments: str) -> str:
    return shlex.join([sys.executable, "-c", code, *arguments])


def test_a_command_gets_json_lines_and_no_shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    copy = "import sys; open('got', 'ab').write(sys.stdin.buffer.read()); open('args', 'w').write(repr(sys.argv[1:]))"
    with Notifier(python(copy, "$HOME", "; touch hostile")) as told:
        told.add([FINDING, FINDING])
    assert told.problems == []
    lines = (tmp_path / "got").read_text().splitlines()
    assert [Finding.from_document(json.loads(line)) for line in lines] == [FINDING, FINDING]
    assert (tmp_path / "args").read_text() == "['$HOME', '; touch hostile']"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["args", "got"]


def test_what_goes_wrong_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    def problems(command: str | None) -> list[str]:
        with Notifier(command) as told:
            told.add([FINDING])
        return told.problems

    assert problems(None) == []  # nobody is to be told
    (ended,), (missing,) = problems(python("raise SystemExit(3)")), problems("no-such-command")
    assert re.fullmatch("1 finding not sent: .* ended with exit code 3", ended)
    assert re.fullmatch("1 finding not sent: no-such-command cannot be run: No such file.*", missing)
    monkeypatch.setattr(notifier, "COMMAND_SECONDS", 0.2)
    start = time.monotonic()
    assert "took longer than" in problems(python("import time; time.sleep(60)"))[0]
    assert time.monotonic() - start < 30
    with pytest.raises(NotifyError, match="is empty"):
        Notifier("  ")


def test_a_slow_command_does_not_hold_up_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(notifier, "MAX_WAITING", 2)
    calls: list[int] = []
    go_on = Event()

    def slow(words: Sequence[str], findings: Sequence[Finding]) -> None:  # noqa: ARG001
        calls.append(len(findings))
        go_on.wait()

    monkeypatch.setattr(notifier, "run_command", slow)
    with Notifier("command") as told:
        told.add([FINDING])
        while not calls:
            time.sleep(0.01)
        for _ in range(3):
            told.add([FINDING] * 10)
        go_on.set()
    assert calls == [1, 20]  # what waited meanwhile is sent together
    assert told.problems == ["10 findings were not sent, because too many others waited"]
