"""A certificate authority, and indices of a stranger, for the tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import trustme
from opensearchpy import OpenSearch

from opensearch_winnow.stores.engine.running import Running
from tests.stores.opensearch.own_index import OwnIndex, article

NUMBERS = count()


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


@pytest.fixture
def authority_file(authority: trustme.CA, tmp_path: Path) -> Path:
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    return tmp_path / "ca.pem"


@pytest.fixture(scope="module")
def client(engine: Running) -> Iterator[OpenSearch]:
    with OpenSearch(engine.url, timeout=60) as made:
        yield made


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
