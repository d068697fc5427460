"""The screens and the API on an index of one's own, whose ids and addresses may be anything."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.index import Index
from opensearch_winnow.stores.engine.running import Running
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, article, attach, text
from tests.web.conftest import Serve
from tests.web.served_fixture import Served

pytestmark = [pytest.mark.check, pytest.mark.xdist_group(__name__)]

IDS = ("a/b?c=d", "é 日本", "2")  # of copies


@pytest.fixture
def own(engine: Running) -> Iterator[OwnIndex]:
    with OpenSearch(engine.url, timeout=60) as client:
        made = OwnIndex(engine.url, f"served-own-{os.getpid()}", client)
        made.create()
        made.write((id_, article(number)) for number, id_ in enumerate(IDS))
        made.write((str(number), article(number)) for number in range(3, 9))
        attach(client, made.address, FIELDS)
        with Index.open(str(made.address), create=False) as index:
            index.cluster()
        yield made
        client.indices.delete(index=f"{made.name},winnow.{made.name}.settings")


def shown(served: Served, path: str) -> str:
    """Return a screen as text; it must be found."""
    reply = served.get(path)
    assert reply.status == 200, path
    return reply.text


def test_screens_and_api_answer(own: OwnIndex, serve: Serve) -> None:
    served = serve(str(own.address))
    found = served.json("/api/v1/search?words=edition")
    assert (found["total"], found["groups"]) == (3, 1)
    (hit,) = found["hits"]
    ids = {hit["url"]: hit["id"]} | {member["url"]: member["id"] for member in hit["member_pages"]}
    assert set(ids) == set(IDS)
    for url, id_ in ids.items():
        page = served.json(f"/api/v1/pages/{id_}")
        assert page["url"] == url
        assert {match["url"] for match in page["similar"]["matches"]} == set(IDS) - {url}
        assert "Article" in shown(served, f"/page/{id_}")
    first, second, _ = ids.values()
    assert "edition" in shown(served, f"/compare/{first}/{second}")
    (cluster,) = served.json("/api/v1/clusters")["clusters"]
    assert cluster["pages"] == 3
    assert "3 pages" in shown(served, f"/cluster/{cluster['id']}")
    for path in ("/", "/search?words=article", "/clusters", "/statistics", "/paste", "/watches"):
        shown(served, path)


def test_a_changed_text_is_shown_as_it_is_now(own: OwnIndex, serve: Serve) -> None:
    served = serve(str(own.address))
    own.change("2", body=text("another story"))
    found = served.json("/api/v1/search?words=article&limit=20")
    (hit,) = (hit for hit in found["hits"] if hit["url"] == "2")
    assert hit["member_pages"] == []
    page = served.json(f"/api/v1/pages/{hit['id']}")
    assert page["similar"]["matches"] == []
    assert text("another story")[:50] in shown(served, f"/page/{hit['id']}")
