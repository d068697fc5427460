"""What the versions of Elasticsearch can do, and how one is known that does not tell its version."""

from __future__ import annotations

import pytest

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address, Engine, connect, engine_of
from tests.stores.opensearch.gateway import Answer, Gateway


@pytest.mark.parametrize(
    ("number", "points", "doc_values", "scripts"),
    [
        ("7.10.2", False, False, True),
        ("7.17.29", False, False, True),
        ("8.0.1", True, False, False),
        ("8.19.8", True, True, False),
        ("9.3.1", True, True, False),
        ("10.0.0-SNAPSHOT", True, True, False),  # newer than any that we know
    ],
)
def test_versions_of_elasticsearch(number: str, points: bool, doc_values: bool, scripts: bool) -> None:
    found = Engine.of({"version": {"number": number, "build_flavor": "default"}})
    assert found.supported
    assert not found.search_pipelines
    assert (found.point_in_time, found.searches_doc_values, found.uses_scripts) == (points, doc_values, scripts)


def test_elasticsearch_is_known_by_its_refusal(engine: Running) -> None:
    reason = b"action [cluster:monitor/main] is unauthorized for API key id [x]"
    refusal = Answer(403, b'{"error": {"type": "security_exception", "reason": "%s"}, "status": 403}' % reason)
    with Gateway(engine.url, lambda _: refusal) as gateway:
        client = connect(Address.of(f"{gateway.url}/pages"))
        assert engine_of(client) == Engine("elasticsearch", (8, 0))
        client.close()
