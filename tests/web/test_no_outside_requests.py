"""An address that a page or a visitor gives is never fetched: nothing connects anywhere but to the store."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest

from opensearch_winnow.mappings.record import capture_id
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.web.app import API, SCREENS
from tests.web.conftest import WORKER
from tests.web.known_crawl_fixture import paragraphs
from tests.web.served_fixture import WINNOW, serving

pytestmark = pytest.mark.check
# Python runs this at its start; it writes down what the process connects to, looks up or starts.
RECORDER = """
import os, sys

def record(event, args):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto", "subprocess.Popen", "os.exec", "os.system"):
        detail = args[1] if event == "socket.connect" else args[0]
        with open(os.environ["RECORD"], "a") as file:
            file.write(f"{event} {detail}\\n")

sys.addaudithook(record)
"""
BODY = "\n\n".join(paragraphs("listener", 3))


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """A server that connections wait for until the test looks whether there are any."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        found.setblocking(False)
        yield found


def address_of(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


@pytest.fixture
def recorded(tmp_path: Path) -> dict[str, str]:
    """The environment of a process whose connections are written to the file RECORD."""
    (tmp_path / "hook").mkdir()
    (tmp_path / "hook/sitecustomize.py").write_text(RECORDER)
    path = os.pathsep.join(filter(None, (str(tmp_path / "hook"), os.environ.get("PYTHONPATH"))))
    return {"PYTHONPATH": path, "RECORD": str(tmp_path / "record"), "WINNOW_TIMEOUT": "60"}


def pages_with(address: str) -> list[dict[str, str]]:
    """Return pages that want to have something fetched in every way that HTML and XML know."""
    markup = f"""<?xml version="1.0"?><?xml-stylesheet href="{address}/s.xsl"?>
<!DOCTYPE html SYSTEM "{address}/x.dtd" [<!ENTITY e SYSTEM "{address}/entity"><!ENTITY % p SYSTEM "{address}/p"> %p;]>
<html xmlns:xi="http://www.w3.org/2001/XInclude" manifest="{address}/m"><head><base href="{address}/base/">
<meta http-equiv="refresh" content="0;url={address}/refresh"><link rel="canonical" href="{address}/canonical">
<link rel="stylesheet" href="{address}/style"><script src="{address}/script"></script><title>listener</title></head>
<body background="{address}/b"><img src="{address}/img" srcset="{address}/2x 2x"><iframe src="{address}/frame"></iframe>
<xi:include href="{address}/include"/><object data="{address}/object"></object>&e;<p>{BODY}</p></body></html>"""
    return [
        {"url": f"{address}/page", "html": markup},
        {"url": f"{address}/copy", "text": f"{address}/text\n\n{BODY}", "title": f"{address}/title"},
    ]


@pytest.mark.parametrize("kind", ["file", "cluster"])
def test_nothing_is_fetched(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path, listener: socket.socket, recorded: dict[str, str]
) -> None:
    address = address_of(listener)
    pages = pages_with(address)
    source = tmp_path / "pages.jsonl"
    source.write_text("".join(f"{json.dumps(page)}\n" for page in pages), encoding="utf-8")
    allowed: set[str] = set()
    store = str(tmp_path / "store.winnow")
    if kind == "cluster":
        engine: Running = request.getfixturevalue("engine")
        store = f"{engine.url}/listener-{WORKER}"
        allowed = {f"socket.connect ('127.0.0.1', {urlsplit(engine.url).port})", "socket.getaddrinfo 127.0.0.1"}
    environment = os.environ | recorded
    for command in (["index", str(source), "--quiet", "--workers", "1"], ["cluster", "--quiet"], ["stats"]):
        subprocess.run([WINNOW, *command, "--store", store], env=environment, check=True, capture_output=True)
    with serving(store, "--write", **recorded) as served:
        page, copy = (capture_id(each["url"], None) for each in pages)
        typed = quote(f"{address}/typed", safe="")
        for screen in SCREENS:
            values = {"id": page, "a": page, "b": copy}
            names = "&".join(
                f"{each.name}={typed}" for each in screen.parameters if each.schema.get("type") == "string"
            )
            for query in ("", f"?{names}", f"?words={typed}", f"?url={typed}", f"?a={typed}&b={typed}"):
                for path in filter(None, (screen.path, screen.api and f"{API}{screen.api}")):
                    served.get(path.format(**values) + query)
        for path in ("/paste", f"{API}/quotes"):
            for field in ("text", "html"):
                served.post(path, {field: pages[0]["html"]})
                served.form(path, **{field: pages[0]["html"]})
        host = urlsplit(address).netloc
        served.get("/", x_forwarded_host=host, x_original_url=address, forwarded=f"host={host}")
        served.form("/watches/add", name="w", url=f"{address}/page", min_containment="0.5")
        served.get("/watches")
    record = Path(recorded["RECORD"])
    assert set(record.read_text().splitlines() if record.exists() else ()) <= allowed
    with pytest.raises(BlockingIOError):
        listener.accept()
    socket.create_connection(listener.getsockname()).close()
    listener.accept()[0].close()  # it would have been seen


def test_the_recorder_records(tmp_path: Path, recorded: dict[str, str], listener: socket.socket) -> None:
    code = f"import urllib.request as r\ntry: r.urlopen('{address_of(listener)}', timeout=1)\nexcept OSError: pass"
    subprocess.run([WINNOW.with_name("python"), "-c", code], env=os.environ | recorded, check=True, cwd=tmp_path)
    assert "socket.connect" in Path(recorded["RECORD"]).read_text()
