"""Uses real nodes of Elasticsearch 8 and 9, which are made from the server's jars: see tests/elasticsearch_node.

WINNOW_TEST_ENGINE=8.19.8 runs the other tests of stores on such a node (`make engines`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from opensearch_winnow import Index, Page, Scheme
from opensearch_winnow.clients import search_groups
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore, writes
from opensearch_winnow.stores.opensearch.requests.client import Address, connect, engine_of
from tests import elasticsearch_node
from tests.stores.conftest import numbered
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, article
from tests.stores.opensearch.test_elasticsearch_requests import use
from tests.test_index import prose

pytestmark = pytest.mark.check


@pytest.fixture(scope="module", params=elasticsearch_node.JAVA)
def node(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    elasticsearch_node.register(request.param)
    own = LocalEngine(tmp_path_factory.mktemp("node"))
    yield own.start(request.param, heap="512m", port=free_port(), owner=os.getpid())
    own.stop()


def test_a_store_on_it(node: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writes, "_wait_for_leases", lambda *_: None)  # the engine looks only twice a minute
    with OpenSearchStore.open(f"{node.url}/pages", Scheme(), create=True) as store:
        assert ".".join(map(str, store._index.engine.version)) == node.version
        use(store, [numbered(number) for number in range(5)])


def test_answers_are_those_of_a_file(node: Running, tmp_path: Path) -> None:
    pages = [Page(f"https://a.org/{number}", text=prose(number % 4, 80) + f" {number}") for number in range(12)]
    answers = []
    for name in (str(tmp_path / "pages.winnow"), f"{node.url}/answers"):
        with Index.open(name) as index:
            index.add(pages)
            similar = [[(each.card.url, each.resemblance) for each in index.similar(url=page.url)] for page in pages]
            first = index.search("the", group=True, limit=2, examine=3, stable=True)
            urls = [hit.card.url for hit in first.hits]
            while first.cursor:
                first = index.search(cursor=first.cursor)
                urls += [hit.card.url for hit in first.hits]
            answers.append((similar, urls))
    assert answers[0] == answers[1]
    assert any(answers[0][0])


def test_an_index_of_your_own_on_it(node: Running) -> None:
    with connect(Address.of(f"{node.url}/own")) as client:
        own = OwnIndex(node.url, "own", client)
        own.create()
        own.write((str(number), article(number)) for number in range(9))
        before = own.sources()
        assert not engine_of(client).uses_scripts
        assert own.attach(FIELDS).done == len(before)
        page = search_groups(client, "own", {"query": {"match_all": {}}}, below="winnow", text="body", limit=3)
        sizes = [group.size for group in page.groups]
        while page.cursor:
            page = search_groups(client, cursor=page.cursor)
            sizes += [group.size for group in page.groups]
        assert sorted(sizes) == [1] * 6 + [3]
        assert own.detach().documents == len(before)
        assert own.sources() == before
