"""A gateway to the tests' engine, and an attached index."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address, connect
from tests.gateway.running_gateway import running_gateway
from tests.stores.opensearch.own_articles import ARTICLES, FIELDS, OwnIndex, attach

NUMBERS = count()


@pytest.fixture(scope="session")
def gateway(engine: Running) -> Iterator[str]:
    """The address of a gateway to the engine."""
    with running_gateway(engine.url) as url:
        yield url


@pytest.fixture(scope="session")
def client(engine: Running) -> Iterator[OpenSearch]:
    made = connect(Address.of(f"{engine.url}/any"))
    yield made
    made.close()


@contextmanager
def new_index(
    engine: Running,
    client: OpenSearch,
    *,
    attached: bool = True,
    mapping: Mapping[str, Any] = ARTICLES,
    shards: int = 1,
) -> Iterator[OwnIndex]:
    """Yield an index of articles without documents."""
    own = OwnIndex(engine.url, f"gateway-{os.getpid()}-{next(NUMBERS)}", client)
    own.create(mapping, shards=shards)
    if attached:
        attach(client, own.address, FIELDS)
    yield own
    client.indices.delete(index=f"{own.name},winnow.{own.name}.settings", params={"ignore_unavailable": "true"})


@pytest.fixture
def plain(engine: Running, client: OpenSearch) -> Iterator[OwnIndex]:
    with new_index(engine, client, attached=False) as own:
        yield own


@pytest.fixture
def attached(engine: Running, client: OpenSearch) -> Iterator[OwnIndex]:
    with new_index(engine, client) as own:
        yield own


@pytest.fixture
def shouting(attached: OwnIndex) -> Iterator[str]:
    """A pipeline that changes texts."""
    name, client = f"{attached.name}-shout", attached.client
    processors = [{"uppercase": {"field": "body", "ignore_missing": True}}]
    client.ingest.put_pipeline(id=name, body={"processors": processors})
    yield name
    unused = {"index.final_pipeline": "_none", "index.default_pipeline": "_none"}
    client.indices.put_settings(index=attached.name, body=unused)
    client.ingest.delete_pipeline(id=name)
