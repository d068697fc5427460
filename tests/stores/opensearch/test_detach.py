"""Detaching takes winnow's fields away from every index that has them, and settings whose index is gone."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.mappings.attached_fields import NOTICED_SECONDS
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.own_index import attach as attaching
from opensearch_winnow.stores.opensearch.own_index import traces
from opensearch_winnow.stores.opensearch.own_index.attach import detach
from opensearch_winnow.stores.store import StoreError
from tests.engine_fixture import needs_modules
from tests.stores.opensearch.own_articles import ARTICLES, FIELDS, OwnIndex, article, attach

pytestmark = pytest.mark.check

DYNAMIC = {**ARTICLES, "dynamic": "true"}


@pytest.fixture
def copy(articles: OwnIndex, engine: Running) -> Iterator[OwnIndex]:
    """An index that does not exist yet, to copy the articles to."""
    made = OwnIndex(engine.url, f"{articles.name}-copy", articles.client)
    yield made
    names = f"{made.name},winnow.{made.name}.settings"
    articles.client.indices.delete(index=names, params={"ignore_unavailable": "true"})


def clone(client: OpenSearch, source: str, target: str) -> None:
    client.indices.put_settings(index=source, body={"index.blocks.write": True})
    client.indices.clone(index=source, target=target, body={"settings": {"index.blocks.write": None}})
    client.indices.put_settings(index=source, body={"index.blocks.write": None})


def restore(client: OpenSearch, source: str, target: str) -> None:
    repository = f"{source}-snapshots"
    client.snapshot.create_repository(
        repository=repository, body={"type": "fs", "settings": {"location": source, "compress": True}}
    )
    try:
        client.snapshot.create(
            repository=repository, snapshot="one", body={"indices": source}, params={"wait_for_completion": "true"}
        )
        body = {
            "indices": source,
            "rename_pattern": source,
            "rename_replacement": target,
            "include_global_state": False,
        }
        client.snapshot.restore(
            repository=repository, snapshot="one", body=body, params={"wait_for_completion": "true"}
        )
    finally:
        client.snapshot.delete_repository(repository=repository)


def reindex(client: OpenSearch, source: str, target: str) -> None:
    """Copy the documents to an index that guesses the types of winnow's fields."""
    client.indices.create(index=target, body={"mappings": DYNAMIC})
    body = {"source": {"index": source}, "dest": {"index": target}}
    client.reindex(body=body, params={"refresh": "true", "wait_for_completion": "true"})


@needs_modules
@pytest.mark.parametrize("make", [clone, restore, reindex])
def test_a_copy_is_detached_and_its_original_is_not(
    articles: OwnIndex, copy: OwnIndex, make: Callable[[OpenSearch, str, str], None]
) -> None:
    client, before = articles.client, articles.sources()
    attach(client, articles.address, FIELDS)
    attached = articles.sources()
    make(client, articles.name, copy.name)
    done = detach(client, copy.address)
    assert (done.documents, done.written_meanwhile) == (10, 0)
    needed_by = None if make is reindex else [articles.name]
    assert done.kept.get(f"index winnow.{articles.name}.settings") == needed_by
    assert not any(part.startswith("index ") for part in done.removed)
    assert copy.sources() == before
    assert "winnow" not in client.indices.get_mapping(index=copy.name)[copy.name]["mappings"]["_meta"]
    assert articles.sources() == attached
    assert attach(client, articles.address).done == 0  # its settings are there
    with pytest.raises(StoreError, match="is not attached, and no document has winnow's fields"):
        detach(client, copy.address)
    # A copy outlives its original.
    detach(client, articles.address)
    assert articles.sources() == before
    assert not client.indices.exists(index=f"winnow.{articles.name}.settings,winnow.{copy.name}.settings")


@pytest.mark.parametrize(("dynamic", "end"), [("strict", "remove$"), ("false", "were not looked at$")])
def test_there_is_nothing_to_remove(own: OwnIndex, dynamic: str, end: str) -> None:
    own.create({**ARTICLES, "dynamic": dynamic}, shards=1)
    with pytest.raises(StoreError, match=f"is not attached, and no document has winnow's fields: .*{end}"):
        detach(own.client, own.address)
    assert not own.client.indices.exists(index=f"winnow.{own.name}.settings")


def test_an_index_that_has_left_its_alias(own: OwnIndex, engine: Running) -> None:
    client = own.client
    parts = [OwnIndex(engine.url, f"{own.name}-{number}", client) for number in range(3)]
    for part in parts:
        part.create(shards=1)
        part.write([("1", article(1))])
        client.indices.put_alias(index=part.name, name=own.name)
    settings = f"winnow.{own.name}.settings"
    try:
        attach(client, own.address, FIELDS)
        client.indices.delete_alias(index=parts[0].name, name=own.name)
        done = detach(client, parts[0].address)
        assert (done.documents, parts[0].sources()) == (1, {"1": article(1)})
        assert done.kept[f"index {settings}"] == [own.name]  # by which the others are detached
        assert own.name in done.kept["script winnow-resemblance-1"]
        assert attach(client, own.address).unchanged == 2
        # The alias goes, and its indices stay.
        client.indices.delete_alias(index=f"{own.name}-*", name=own.name)
        with pytest.raises(StoreError, match=f"no index of this name; detach {own.name}-1, {own.name}-2"):
            detach(client, own.address)
        assert detach(client, parts[1].address).kept[f"index {settings}"] == [parts[2].name]
        assert f"index {settings}" in detach(client, parts[2].address).removed
        assert not client.indices.exists(index=settings)
    finally:
        client.indices.delete(index=",".join(part.name for part in parts))


def test_settings_whose_index_is_gone(articles: OwnIndex) -> None:
    client, settings = articles.client, f"winnow.{articles.name}.settings"
    attach(client, articles.address, FIELDS)
    client.indices.delete(index=articles.name)
    done = detach(client, articles.address)
    assert (done.documents, done.removed[0], done.written_meanwhile) == (0, f"index {settings}", 0)
    assert not client.indices.exists(index=settings)
    with pytest.raises(StoreError, match="cannot be detached: there is no index of this name"):
        detach(client, articles.address)
    assert not client.indices.exists(index=settings)


def test_a_detaching_that_was_killed_is_continued(articles: OwnIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the mark in the mapping away first: the next run knows the fields by their names."""
    before = articles.sources()
    attach(articles.client, articles.address, FIELDS)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(attaching, "remove_fields", killed)
        with pytest.raises(KeyboardInterrupt):
            detach(articles.client, articles.address)
    assert articles.sources() != before
    assert detach(articles.client, articles.address).documents == 10
    assert articles.sources() == before


class Clock:
    """A clock for `detach` that nobody has to wait for."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.mark.parametrize(("writes", "left"), [(3, 0), (100, 1)])
def test_fields_that_are_written_during_the_run(
    articles: OwnIndex, monkeypatch: pytest.MonkeyPatch, writes: int, left: int
) -> None:
    """A gateway may write some until it notices; a program that never stops is reported."""
    attach(articles.client, articles.address, FIELDS)
    document, count, clock, written = articles.sources()["1"], traces.count_fields, Clock(), repeat(None, writes)

    def write_then_count(*arguments: Any) -> int:
        if next(written, True) is None:
            articles.write([("late", document)])
        return count(*arguments)

    monkeypatch.setattr(traces, "time", clock)
    monkeypatch.setattr(traces, "NOTICED_SECONDS", NOTICED_SECONDS)
    monkeypatch.setattr(traces, "count_fields", write_then_count)
    assert detach(articles.client, articles.address).written_meanwhile == left
    assert clock.now == (0 if left else NOTICED_SECONDS)
    assert any("winnow" in source for source in articles.sources().values()) == bool(left)


def test_a_gateway_gets_the_time_to_notice(articles: OwnIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may still add fields after all of them were removed, for as long as it remembers that they are wanted."""
    attach(articles.client, articles.address, FIELDS)
    before, document, clock = articles.without_ours(), articles.sources()["1"], Clock()

    def write_while_it_waits(seconds: float) -> None:
        articles.write([("1", document)])
        clock.now += seconds

    monkeypatch.setattr(traces, "time", clock)
    monkeypatch.setattr(traces, "NOTICED_SECONDS", NOTICED_SECONDS)
    monkeypatch.setattr(clock, "sleep", write_while_it_waits)
    assert detach(articles.client, articles.address).written_meanwhile == 0
    assert articles.sources() == before
