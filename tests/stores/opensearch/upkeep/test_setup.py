"""Setting up a store: once, again, by several processes at once, and without all permissions."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Scheme, StoreError
from opensearch_winnow.mappings.opensearch_mapping import mapping, written_in
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.written_scheme import written
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from opensearch_winnow.stores.opensearch.upkeep.setup import NO_SEARCH_PIPELINES, Step, plan, set_up, steps
from tests.engine_fixture import needs_modules

MakeRecord = Callable[..., Record]


def outcomes(done: Sequence[tuple[Step, str]]) -> set[str]:
    """Return the outcomes, ignoring search pipelines if the engine has none."""
    return {outcome for step, outcome in done if outcome != "refused" or step.if_refused != NO_SEARCH_PIPELINES}


@needs_modules
def test_a_store_is_created_once(client: OpenSearch) -> None:
    scheme = Scheme(noise=20, guarantee=40)
    for use, expected in ((plan, "missing"), (set_up, "made")):
        assert [outcome for _, outcome in use(client, "set-up-once", scheme, shards=2)][-3:] == [expected] * 3
    (index,) = client.indices.get_alias(name="set-up-once")
    about = client.indices.get(index=index)[index]
    assert index == "set-up-once-000001"
    assert written_in(about["mappings"], index) == written(scheme)
    assert about["settings"]["index"]["number_of_shards"] == "2"
    assert outcomes(set_up(client, "set-up-once", scheme)) == {"there"}
    assert outcomes(set_up(client, "set-up-once")) == {"there"}  # whichever scheme it has


@pytest.mark.check
def test_what_is_missing_is_added(client: OpenSearch) -> None:
    set_up(client, "set-up-half", Scheme(noise=30))
    client.indices.delete(index="set-up-half.settings")
    client.indices.delete_index_template(name="winnow-set-up-half")
    made = [step.what for step, outcome in set_up(client, "set-up-half") if outcome == "made"]
    assert made == ["template winnow-set-up-half", "index set-up-half.settings"]
    template = client.indices.get_index_template(name="winnow-set-up-half")["index_templates"][0]["index_template"]
    assert written_in(template["template"]["mappings"], "it") == written(Scheme(noise=30))


def test_an_index_of_somebody_else_with_our_mapping_is_a_store(client: OpenSearch) -> None:
    body = {"mappings": mapping(Scheme()), "settings": steps("x", Scheme())[-1].body["settings"]}
    client.indices.create(index="set-up-index", body=body)
    made = [step.what for step, outcome in set_up(client, "set-up-index", Scheme()) if outcome == "made"]
    assert made == ["template winnow-set-up-index", "index set-up-index.settings"]


def test_what_is_refused(client: OpenSearch) -> None:
    set_up(client, "set-up-scheme", Scheme())
    client.indices.delete(index="set-up-scheme.settings")
    set_up(client, "set-up-lost", Scheme())
    client.indices.delete_alias(index="set-up-lost-000001", name="set-up-lost")
    client.indices.create(index="set-up-other")
    for index in ("set-up-one", "set-up-two"):
        client.indices.create(index=index, body={"aliases": {"set-up-both": {}}})
    for name, words in {
        "set-up-scheme": "set-up-scheme has records of scheme 50-149",
        "set-up-lost": "there is an index set-up-lost-000001, but no alias set-up-lost",
        "set-up-other": "set-up-other is an index, but not a store of winnow",
        "set-up-both": "set-up-both is an alias of 2 indices; name one of them",
    }.items():
        with pytest.raises(StoreError, match=words):
            set_up(client, name, Scheme(noise=20))
        if name != "set-up-lost":  # nothing was made
            assert not client.indices.exists(index=f"{name}.settings")


@needs_modules
def test_several_at_once_all_succeed(engine: Running, client: OpenSearch) -> None:
    def one(_: int) -> set[str]:
        with OpenSearch(engine.url, timeout=60) as own:
            return outcomes(set_up(own, "set-up-race", Scheme()))

    with ThreadPoolExecutor(8) as threads:
        assert set().union(*threads.map(one, range(8))) <= {"made", "there"}
    assert list(client.indices.get_alias(name="set-up-race")) == ["set-up-race-000001"]


@needs_modules
def test_the_printed_requests_have_the_same_effect(client: OpenSearch) -> None:
    for step, outcome in plan(client, "set-up-pasted", Scheme()):
        if outcome == "missing":
            request, _, body = step.console_request().partition("\n")
            method, path = request.split()
            client.transport.perform_request(method, path, body=json.loads(body))
    assert outcomes(set_up(client, "set-up-pasted", Scheme())) == {"there"}
    for step in steps("x", Scheme()):
        assert json.loads(step.console_request().partition("\n")[2]) == step.body


@pytest.mark.check
def test_an_engine_without_scripts_still_has_stores(start_engine: Callable[..., Running], record: MakeRecord) -> None:
    engine = start_engine(nodes=1, settings={"script.allowed_types": "none"})
    with OpenSearch(engine.url, timeout=60) as client:
        done = set_up(client, "pages", Scheme())
        searches = "made" if engine_of(client).search_pipelines else "refused"
    assert [outcome for _, outcome in done] == ["refused"] * 4 + [searches] + ["made"] * 3
    with OpenSearchStore.open(f"{engine.url}/pages") as store:
        store.write([record(1)])
        assert store.read([record(1).id], Record) == {record(1).id: record(1)}
