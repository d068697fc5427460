"""Detaching takes winnow's fields away from every index that has them, and settings whose index is gone."""

from __future__ import annotations

from collections.abc import Callable
from itertools import repeat
from typing import Any
from unittest.mock import Mock

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.mappings.attached_fields import NOTICED_SECONDS
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.own_index import attach as attaching, traces
from opensearch_winnow.stores.store import StoreError
from tests.engine_fixture import needs_modules
from tests.stores.opensearch.own_articles import ARTICLES, FIELDS, OwnIndex, article

pytestmark = pytest.mark.check


def clone(client: OpenSearch, source: str, target: str) -> None:
    client.indices.put_settings(index=source, body={"index.blocks.write": True})
    client.indices.clone(index=source, target=target, body={"settings": {"index.blocks.write": None}})
    client.indices.put_settings(index=source, body={"index.blocks.write": None})


def restore(client: OpenSearch, source: str, target: str) -> None:
    repository = f"{source}-snapshots"
    one: dict[str, Any] = {"repository": repository, "snapshot": "one", "params": {"wait_for_completion": "true"}}
    kind = {"type": "fs", "settings": {"location": source, "compress": True}}
    client.snapshot.create_repository(repository=repository, body=kind)
    try:
        client.snapshot.create(body={"indices": source}, **one)
        renamed = {"rename_pattern": source, "rename_replacement": target, "include_global_state": False}
        client.snapshot.restore(body=renamed | {"indices": source}, **one)
    finally:
        client.snapshot.delete_repository(repository=repository)


def reindex(client: OpenSearch, source: str, target: str) -> None:
    """Copy the documents to an index that guesses the types of winnow's fields."""
    client.indices.create(index=target, body={"mappings": {**ARTICLES, "dynamic": "true"}})
    body = {"source": {"index": source}, "dest": {"index": target}}
    client.reindex(body=body, params={"refresh": "true", "wait_for_completion": "true"})


@needs_modules
@pytest.mark.parametrize("make", [clone, restore, reindex])
def test_a_copy_is_detached_and_its_original_is_not(
    articles: OwnIndex, engine: Running, make: Callable[[OpenSearch, str, str], None]
) -> None:
    before = articles.sources()
    articles.attach(FIELDS)
    attached, copy = articles.sources(), OwnIndex(engine.url, f"{articles.name}-copy", articles.client)
    try:
        make(articles.client, articles.name, copy.name)
        done = copy.detach()
        assert (done.documents, done.written_meanwhile) == (10, 0)
        needed_by = None if make is reindex else [articles.name]
        assert done.kept.get(f"index winnow.{articles.name}.settings") == needed_by
        assert not any(part.startswith("index ") for part in done.removed)
        assert copy.sources() == before
        assert "winnow" not in copy.mapping()["_meta"]
        assert articles.sources() == attached
        assert articles.attach().done == 0  # its settings are there
        with pytest.raises(StoreError, match="is not attached, and no document has winnow's fields"):
            copy.detach()
        articles.detach()  # a copy outlives its original
        assert articles.sources() == before
        assert (articles.has_settings(), copy.has_settings()) == (False, False)
    finally:
        articles.client.indices.delete(index=copy.name)


@pytest.mark.parametrize(("dynamic", "end"), [("strict", "remove$"), ("false", "were not looked at$")])
def test_there_is_nothing_to_remove(own: OwnIndex, dynamic: str, end: str) -> None:
    own.create({**ARTICLES, "dynamic": dynamic}, shards=1)
    with pytest.raises(StoreError, match=f"is not attached, and no document has winnow's fields: .*{end}"):
        own.detach()
    assert not own.has_settings()


def test_an_index_that_has_left_its_alias(own: OwnIndex, engine: Running) -> None:
    client, settings = own.client, f"index winnow.{own.name}.settings"
    parts = [OwnIndex(engine.url, f"{own.name}-{number}", client) for number in range(3)]
    for part in parts:
        part.create(shards=1)
        part.write([("1", article(1))])
        client.indices.put_alias(index=part.name, name=own.name)
    try:
        own.attach(FIELDS)
        client.indices.delete_alias(index=parts[0].name, name=own.name)
        done = parts[0].detach()
        assert (done.documents, parts[0].sources()) == (1, {"1": article(1)})
        assert done.kept[settings] == [own.name]  # by which the others are detached
        assert own.name in done.kept["script winnow-resemblance-1"]
        assert own.attach().unchanged == 2
        # The alias goes, and its indices stay.
        client.indices.delete_alias(index=f"{own.name}-*", name=own.name)
        with pytest.raises(StoreError, match=f"no index of this name; detach {own.name}-1, {own.name}-2"):
            own.detach()
        assert parts[1].detach().kept[settings] == [parts[2].name]
        assert settings in parts[2].detach().removed
        assert not own.has_settings()
    finally:
        client.indices.delete(index=",".join(part.name for part in parts))


def test_settings_whose_index_is_gone(attached: OwnIndex) -> None:
    attached.client.indices.delete(index=attached.name)
    done = attached.detach()
    assert (done.documents, done.written_meanwhile) == (0, 0)
    assert done.removed[0] == f"index winnow.{attached.name}.settings"
    assert not attached.has_settings()
    with pytest.raises(StoreError, match="cannot be detached: there is no index of this name"):
        attached.detach()
    assert not attached.has_settings()


def test_a_detaching_that_was_killed_is_continued(articles: OwnIndex, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes the mark in the mapping away first: the next run knows the fields by their names."""
    before = articles.sources()
    articles.attach(FIELDS)
    with monkeypatch.context() as patch:
        patch.setattr(attaching, "remove_fields", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            articles.detach()
    assert articles.sources() != before
    assert articles.detach().documents == 10
    assert articles.sources() == before


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Mock:
    """A clock for `detach` that nobody has to wait for. `now` is its time."""
    made = Mock(now=0.0)
    made.monotonic.side_effect = lambda: made.now

    def sleep(seconds: float) -> None:
        made.now += seconds

    made.sleep.side_effect = sleep
    monkeypatch.setattr(traces, "time", made)
    monkeypatch.setattr(traces, "NOTICED_SECONDS", NOTICED_SECONDS)
    return made


@pytest.mark.parametrize(("writes", "left"), [(3, 0), (100, 1)])
def test_fields_that_are_written_during_the_run(
    attached: OwnIndex, monkeypatch: pytest.MonkeyPatch, clock: Mock, writes: int, left: int
) -> None:
    """A gateway may write some until it notices; a program that never stops is reported."""
    document, count, written = attached.sources()["1"], traces.count_fields, repeat(None, writes)

    def write_then_count(*arguments: Any) -> int:
        if next(written, True) is None:
            attached.write([("late", document)])
        return count(*arguments)

    monkeypatch.setattr(traces, "count_fields", write_then_count)
    assert attached.detach().written_meanwhile == left
    assert clock.now == (0 if left else NOTICED_SECONDS)
    assert any("winnow" in source for source in attached.sources().values()) == bool(left)


def test_a_gateway_gets_the_time_to_notice(attached: OwnIndex, clock: Mock) -> None:
    """It may still add fields after all of them were removed, for as long as it remembers that they are wanted."""
    before, document = attached.without_ours(), attached.sources()["1"]

    def write_while_it_waits(seconds: float) -> None:
        attached.write([("1", document)])
        clock.now += seconds

    clock.sleep.side_effect = write_while_it_waits
    assert attached.detach().written_meanwhile == 0
    assert attached.sources() == before
