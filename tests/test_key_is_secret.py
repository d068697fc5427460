"""The key of a store is nowhere: not in its files or indices, nor in what commands print, nor in the list of processes.

The seed made from the key is looked for as well, since it is as good as the key.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from uuid import uuid4

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.web.app import API
from tests.web.addresses_fixture import ADDRESSES, api_address
from tests.web.known_crawl_fixture import MILL, PAGES, QUOTE
from tests.web.served_fixture import serving

WINNOW = Path(sys.executable).with_name("winnow")
KEY = "5b1f0c7e9a44d2c38e6075b1aa93f4d86c2e"
SEED = Scheme(key=KEY).seed
NEEDLES = [KEY.encode(), bytes.fromhex(KEY), base64.b64encode(KEY.encode()).rstrip(b"="), KEY.encode().hex().encode()]
NEEDLES += [SEED.to_bytes(8, "little"), SEED.to_bytes(8, "big"), str(SEED).encode(), f"{SEED:x}".encode()]
KEYED, WRONG = ("--key-file", "secret/key"), ("--key-file", "secret/wrong")


def leaks(*places: bytes) -> list[bytes]:
    return [needle for needle in NEEDLES for place in places if needle in place]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with the known crawl as JSON lines, and below it the key."""
    days = [page.fetched_at and f"{page.fetched_at}" for page in PAGES]
    lines = [{"url": page.url, "title": page.title, "text": page.text} for page in PAGES]
    rows = [json.dumps(line | {"fetched_at": at}) for line, at in zip(lines, days, strict=True)]
    (tmp_path / "pages.jsonl").write_text("\n".join(rows))
    (tmp_path / "quote.txt").write_text(QUOTE)
    (tmp_path / "secret").mkdir()
    (tmp_path / "secret" / "key").write_text(f"{KEY}\n")
    (tmp_path / "secret" / "wrong").write_text(f"{KEY[:-1]}0\n")
    return tmp_path


def listed(session: int) -> Iterator[bytes]:
    """Yield what the list of processes shows of every process of a session."""
    for entry in Path("/proc").iterdir():
        with suppress(OSError):  # it has ended
            if entry.name.isdigit() and os.getsid(int(entry.name)) == session:
                yield (entry / "cmdline").read_bytes()


def told(folder: Path, *arguments: str, code: int = 0) -> bytes:
    """Run a command, and return its output and its lines in the list of processes."""
    lines: set[bytes] = set()
    command = [str(WINNOW), *arguments]
    with TemporaryFile() as output:  # not a pipe, which a long answer would fill
        with subprocess.Popen(command, cwd=folder, stdout=output, stderr=output, start_new_session=True) as process:
            while process.poll() is None:
                lines |= set(listed(process.pid))
                time.sleep(0.02)
        output.seek(0)
        said = output.read()
    assert process.returncode == code, said.decode()
    assert any(b"secret/" in line for line in lines)
    return b"\n".join((said, *lines))


def everything_told(folder: Path, store: str) -> bytes:
    """Run the commands that a store is used with, and return all that they print."""
    keyed = ("--store", store, *KEYED)
    runs = [
        told(folder, "index", "pages.jsonl", *keyed, "--workers", "2", "--crawl", "known"),
        told(folder, "watch", "add", "press", "--file", "quote.txt", *keyed),
        told(folder, "cluster", *keyed, "--json", "--output", "clusters.parquet", "--state", "state"),
        *(told(folder, *asking, *keyed, "--json") for asking in (("similar", MILL), ("search", "mill"), ("stats",))),
        told(folder, "watch", "check", *keyed, "--json", code=1),  # nothing new
        *(told(folder, "export", *keyed, "--to", name) for name in ("records.parquet", "records.jsonl")),
        told(folder, "compare", "quote.txt", MILL, *keyed, "--html", "compare.html"),
        told(folder, "cluster", "--records", "records.parquet", *KEYED, "--json"),
        told(folder, "fingerprint", "quote.txt", "--noise", "20", *KEYED, "--json"),
        told(folder, "stats", "--store", store, *WRONG, code=2),
    ]
    said = b"\n".join(runs)
    assert MILL.encode() in said
    assert b"wrong key for scheme" in said
    return said


def served(folder: Path, store: str) -> bytes:
    """Return the answers of `winnow serve` at every address, and its line in the list of processes."""
    with serving(store, "--write", "--key-file", str(folder / "secret" / "key")) as found:
        line = Path(f"/proc/{found.process.pid}/cmdline").read_bytes()
        paths = [*ADDRESSES.values(), *map(api_address, ADDRESSES.values()), f"{API}/openapi.json", "/nothing"]
        replies = [found.get(path) for path in paths]
    assert "The mill" in replies[0].text + replies[1].text
    return b"\n".join((line, found.said.encode(), *(f"{reply.headers}".encode() + reply.body for reply in replies)))


def files_of(folder: Path) -> list[bytes]:
    """Return the contents of all files but the key."""
    return [file.read_bytes() for file in folder.rglob("*") if file.is_file() and file.parent.name != "secret"]


@pytest.mark.check
def test_a_store_in_a_file(folder: Path) -> None:
    store = folder / "crawl.winnow"
    said = everything_told(folder, str(store))
    shown = served(folder, str(store))
    assert leaks(said, shown, *files_of(folder)) == []
    with Index.open(store, key=KEY) as index:
        assert index.scheme.key == KEY
        objects = (index, index.scheme, index.store, Recipe(scheme=index.scheme), index.clustering())
        assert leaks(repr(objects).encode(), str(objects).encode()) == []


@pytest.mark.check
def test_a_store_on_opensearch(folder: Path, engine: Running) -> None:
    name = f"secret-{uuid4().hex}"
    both, everything = f"{name},{name}.settings", {"version": "true", "expand_wildcards": "all"}
    said = everything_told(folder, f"{engine.url}/{name}")
    shown = served(folder, f"{engine.url}/{name}")
    with OpenSearch(engine.url) as client:
        client.indices.refresh(index=both)
        documents = client.search(index=both, body={"size": 1_000, "fields": ["*"]}, params=everything)
        assert documents["hits"]["total"]["value"] > len(PAGES)
        parts = [documents, client.indices.get(index=both), client.cluster.state(), client.cluster.get_settings()]
        parts.append(client.indices.get_index_template(name=f"winnow-{name}"))
        assert leaks(said, shown, *(json.dumps(part).encode() for part in parts), *files_of(folder)) == []


@pytest.mark.check
def test_an_index_of_ones_own(folder: Path, engine: Running) -> None:
    name = f"secret-own-{uuid4().hex}"
    address = f"{engine.url}/{name}"
    attaching = ("attach", address, "--text", "body", "--url", "link")
    with OpenSearch(engine.url) as client:
        for page in PAGES:
            client.index(index=name, body={"link": page.url, "body": page.text})
        client.indices.refresh(index=name)
        said = [
            told(folder, *attaching, "--dry-run", *KEYED),
            told(folder, *attaching, *KEYED),
            told(folder, "attach", address, "--update", *KEYED),
            told(folder, "attach", address, "--update", *WRONG, code=2),
            told(folder, "similar", MILL, "--store", address, *KEYED, "--json"),
        ]
        parts = [client.indices.get(index=name), client.search(index=name, body={"size": 1_000})]
        assert parts[0][name]["mappings"]["_meta"]["winnow"]["keyed"] is True
        assert leaks(*said, *(json.dumps(part).encode() for part in parts)) == []
        told(folder, "detach", address, *KEYED)
