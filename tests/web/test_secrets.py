"""Passwords, keys and tokens stay secret: no screen, no JSON, no message and no process list shows them."""

from __future__ import annotations

from pathlib import Path

import pytest

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.web.app import API
from tests.web.addresses_fixture import ADDRESSES, api_address
from tests.web.conftest import WORKER, made
from tests.web.known_crawl_fixture import PAGES
from tests.web.served_fixture import Served, serving

TOKEN = "a-token-of-ones-own"
PASSWORD = "open-sesame"


def all_that_is_told(served: Served) -> str:
    """Return every answer and, at last, what the server has printed. Some requests are refused, some have no token."""
    sent = {"authorization": f"Bearer {TOKEN}"}
    told = [
        served.get(path).text for path in ("/", f"{API}/search?words=mill", f"/?token={TOKEN}x", "/static/winnow.js")
    ]
    paths = [*ADDRESSES.values(), *map(api_address, ADDRESSES.values()), f"{API}/openapi.json", "/nothing", "/page/x"]
    replies = [served.get(path, **sent) for path in paths]
    told += [f"{reply.headers} {reply.text}" for reply in replies]
    told.append(served.send("/paste", b"text=some", content_type="text/plain", **sent).text)
    served.process.terminate()
    assert served.process.stderr is not None
    return "\n".join((*told, served.said, served.process.stderr.read()))


@pytest.mark.check
def test_nobody_learns_the_token(own_file: Path) -> None:
    with serving(own_file, "--write", WINNOW_TOKEN=TOKEN) as served:
        arguments = Path(f"/proc/{served.process.pid}/cmdline").read_bytes()
        told = all_that_is_told(served)
    assert "The mill" in told
    assert TOKEN not in told
    assert TOKEN.encode() not in arguments


@pytest.mark.check
@pytest.mark.parametrize("place", ["environment", "address"])
def test_nobody_learns_the_password(engine: Running, place: str) -> None:
    """The engine asks for no password, and accepts any."""
    name = f"secret-{place}-{WORKER}"
    made(f"{engine.url}/{name}", PAGES)
    host = engine.url.removeprefix("http://")
    credentials = {"WINNOW_USER": "me", "WINNOW_PASSWORD": PASSWORD} if place == "environment" else {}
    address = f"http://{'' if credentials else f'me:{PASSWORD}@'}{host}/{name}"
    with serving(address, WINNOW_TOKEN=TOKEN, **credentials) as served:
        if credentials:
            assert PASSWORD.encode() not in Path(f"/proc/{served.process.pid}/cmdline").read_bytes()
        told = all_that_is_told(served)
    assert host in told
    assert PASSWORD not in told
    assert TOKEN not in told
