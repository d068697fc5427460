"""winnow serve: start, messages and end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
from pathlib import Path
from time import sleep

import pytest

from opensearch_winnow.foundation.listening import ListenOptions
from tests.cli.conftest import Process, Winnow
from tests.web.served_fixture import Served, head, serving

pytestmark = pytest.mark.check


def ended(served: Served, by: signal.Signals) -> tuple[int, str]:
    """Stop the server with a signal, and return its exit code and its last messages."""
    served.process.send_signal(by)
    assert served.process.stderr is not None
    return served.process.wait(60), served.process.stderr.read()


def test_get_prints_the_answer_to_one_request(process: Process, crawl: Path) -> None:
    done = process("serve", "--store", crawl, "--get", "/api/v1/search?words=valley")
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["total"] == 2
    assert process("serve", "--store", crawl, "--get", "search?words=valley").stdout.startswith(b"<!doctype html>")
    settings = {"WINNOW_STORE": str(crawl), "WINNOW_TOKEN": "ignored-here"}
    done = process("serve", "--get", "/search.csv?words=valley", **settings)
    assert (done.returncode, done.stdout[:18]) == (0, b"group,resemblance,")
    for path, said in (("/zeppelin", b"404"), ("/api/v1/search?page=x", b'{"error":"page is a whole')):
        done = process("serve", "--store", crawl, "--get", path)
        assert (done.returncode, said in done.stdout) == (1, True)


def test_what_cannot_be_served_is_refused(winnow: Winnow, crawl: Path, tmp_path: Path) -> None:
    missing = tmp_path / "none.winnow"
    assert "none.winnow" in winnow.refused("serve", "--store", missing, "--port", "0")
    assert not missing.exists()
    winnow.refused("serve", "--port", "0")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        said = winnow.refused("serve", "--store", crawl, "--port", str(taken.getsockname()[1]))
    assert "--port 0 picks a free one" in said
    said = winnow.refused("serve", "--store", crawl, "--host", "192.0.2.1", "--port", "0")
    assert "cannot listen at 192.0.2.1:0" in said
    for token in ("", "short", "eight ch", "t\u00f6ken-token", "line\nbreak-token"):
        said = winnow.refused("serve", "--store", crawl, "--token", token, "--get", "/")
        assert "use at least 8 characters" in said


def test_ctrl_c_ends_it(crawl: Path) -> None:
    with serving(crawl) as served:
        assert served.said == f"{crawl} at {served.address}/\nCtrl-C stops the server.\n"
        assert served.get("/").status == 200
        assert ended(served, signal.SIGINT) == (0, "")


def test_a_second_ctrl_c_ends_it_at_once(crawl: Path) -> None:
    with serving(crawl) as served:
        port = int(served.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as unfinished:  # the first Ctrl-C waits for it
            unfinished.sendall(head("/paste", 100))
            assert served.get("/").status == 200
            served.process.send_signal(signal.SIGINT)
            sleep(0.3)  # otherwise both signals would arrive as one
            assert served.process.poll() is None
            assert ended(served, signal.SIGINT) == (128 + signal.SIGINT, "")


def test_ctrl_c_works_as_soon_as_it_is_offered(crawl: Path) -> None:
    with serving(crawl) as served:
        assert ended(served, signal.SIGINT) == (0, "")


def test_an_unfinished_request_does_not_delay_the_end(crawl: Path) -> None:
    with serving(crawl) as served:
        port = int(served.address.rpartition(":")[2])
        with socket.create_connection(("127.0.0.1", port)) as idle:
            idle.sendall(b"POST /paste HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n")
            assert served.get("/").status == 200
            code, said = ended(served, signal.SIGINT)
        assert (code, "Traceback" in said) == (0, False)


def test_a_page_that_is_added_meanwhile_is_found(process: Process, crawl: Path, tmp_path: Path) -> None:
    (tmp_path / "page.txt").write_text("A zeppelin above the valley. " * 20)
    with serving(crawl) as served:
        assert served.json("/api/v1/search?words=zeppelin")["total"] == 0
        assert process("index", "page.txt", "--store", crawl).returncode == 0
        assert served.json("/api/v1/search?words=zeppelin")["total"] == 1


def test_on_this_machine_no_token_is_needed(crawl: Path) -> None:
    with serving(crawl, "--host", "localhost", WINNOW_TOKEN="") as served:
        assert ("?token=" in served.said, served.get("/").status) == (False, 200)


def test_other_machines_need_a_token(crawl: Path) -> None:
    with serving(crawl, "--host", "0.0.0.0") as served:
        found = re.search(r"\?token=([\w-]{20,})$", served.said, re.MULTILINE)
        assert found
        assert served.get("/").status == 401
        for host in ({}, {"host": "winnow.example"}):
            assert served.get("/", authorization=f"Bearer {found[1]}", **host).status == 200
        with_token = served.get(f"/?token={found[1]}")
        assert (with_token.status, with_token.headers["location"]) == (303, "/")


def test_a_chosen_token_is_used(crawl: Path) -> None:
    with serving(crawl, WINNOW_TOKEN="of-ones-own") as served:
        assert "/?token=…\n" in served.said, "what is printed often ends in a log"
        assert served.get("/").status == 401
        assert served.get("/", authorization="Bearer of-ones-own").status == 200


def test_loopback_addresses() -> None:
    for host in ("127.0.0.1", "127.8.9.1", "::1", "localhost", "LOCALHOST"):
        assert ListenOptions(host=host).is_local
    for host in ("0.0.0.0", "::", "192.0.2.1", "example.org", "localhost.example", "1", ""):
        assert not ListenOptions(host=host).is_local


def test_the_printed_address_can_be_opened() -> None:
    assert ListenOptions(host="::1").reachable_host == "[::1]"
    assert {ListenOptions(host=host).reachable_host for host in ("0.0.0.0", "::")} == {socket.gethostname()}


def test_a_browser_is_opened(crawl: Path, tmp_path: Path) -> None:
    told, browser = tmp_path / "told", tmp_path / "browser"
    os.mkfifo(told)
    browser.write_text(f'#!/bin/sh\nprintf %s "$1" > {told}\n')
    browser.chmod(0o755)
    with serving(crawl, "--open", BROWSER=f"{browser} %s") as served:
        assert told.read_text() == f"{served.address}/"  # waits until the browser script writes


def test_answers_are_sent_at_once() -> None:
    """asyncio sets TCP_NODELAY only if the socket names its protocol. Otherwise each answer takes 40 ms more."""
    with ListenOptions().listener() as listener:
        assert listener.proto == socket.IPPROTO_TCP
