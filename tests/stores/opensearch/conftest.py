"""A certificate authority, indices of a stranger, and new stores, for the tests."""

from __future__ import annotations

import os
import re
import socket
from array import array
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest
import trustme
from opensearchpy import OpenSearch

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.requests.client import Address, connect
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up
from tests.stores.conftest import numbered
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, article

NUMBERS = count()
Open = Callable[..., OpenSearchStore]


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def authority_file(authority: trustme.CA, tmp_path: Path) -> Path:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return tmp_path / "ca.pem"


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


@pytest.fixture(scope="module")
def client(engine: Running) -> Iterator[OpenSearch]:
    with connect(Address.of(f"{engine.url}/any")) as made:
        yield made


@pytest.fixture(autouse=True)
def _no_gateways(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let `detach` not wait until gateways have noticed it."""
    monkeypatch.setattr("opensearch_winnow.stores.opensearch.own_index.traces.NOTICED_SECONDS", 0.0)


@pytest.fixture
def own(engine: Running, client: OpenSearch) -> Iterator[OwnIndex]:
    """An index that does not exist yet."""
    name = f"own-{os.getpid()}-{next(NUMBERS)}"
    yield OwnIndex(engine.url, name, client)
    client.indices.delete(index=f"{name},winnow.{name}.settings", params={"ignore_unavailable": "true"})


@pytest.fixture
def articles(own: OwnIndex) -> OwnIndex:
    """Ten articles, of which 0, 1 and 2 are copies with small changes, and 9 has no text."""
    own.create()
    own.write((str(number), article(number)) for number in range(9))
    own.write([("9", {"headline": "A picture", "author": "cleo"})])
    return own


@pytest.fixture
def attached(articles: OwnIndex) -> OwnIndex:
    articles.attach(FIELDS)
    return articles


@pytest.fixture
def own_name(request: pytest.FixtureRequest) -> str:
    """The test's name as that of an index: other workers use the same engine."""
    return re.sub(r"\W+|_", "-", request.node.name.lower()).strip("-")


@pytest.fixture
def fresh(engine: Running, client: OpenSearch, own_name: str) -> Iterator[Open]:
    """An empty store with a given number of shards, which is deleted after the test."""
    made: list[str] = []

    def store(shards: int = 1) -> OpenSearchStore:
        index = f"{own_name}-on-{shards}"
        set_up(client, index, Scheme(), shards=shards)
        made.append(index)
        return OpenSearchStore.open(f"{engine.url}/{index}", client=client)

    yield store
    for index in made:
        client.indices.delete(index=f"{index}-0*,{index}.settings")
        client.indices.delete_index_template(name=f"winnow-{index}")


def index_of(store: OpenSearchStore) -> str:
    return store.name.rpartition("/")[2]


def small(number: int, **changes: object) -> Record:
    """Many captures of one page, at different times."""
    values = {"url": "https://a.org/", "text": "plum", "fingerprints": array("Q", [7]), "sketch": array("Q")}
    return numbered(number, **values | {"bands": array("Q"), "minhash": b"", "title": None} | changes)
