"""One index of an alias that refuses winnow's fields does not keep the others from them, and it is named."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from click.testing import Result

from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch import OpenSearchStore
from opensearch_winnow.stores.store import StoreError
from tests.cli.conftest import winnow  # noqa: F401 (a fixture)
from tests.stores.opensearch.own_articles import ARTICLES, FIELDS, OwnIndex, article, plan

pytestmark = pytest.mark.check

LIMIT, READ_ONLY, WRITE = "index.mapping.total_fields.limit", "index.blocks.read_only", "index.blocks.write"
REASONS = {
    LIMIT: "cannot be given winnow's fields: Limit of total fields [6] has been exceeded; raise " + LIMIT,
    READ_ONLY: f"cannot be given winnow's fields: the index is read-only ({READ_ONLY}); remove the lock",
    WRITE: f"is locked ({WRITE}), so its documents cannot be written",
}


class Alias:
    """Two indices with two articles each, behind an alias; a third one may join them."""

    def __init__(self, own: OwnIndex, url: str) -> None:
        self.own, self.client = own, own.client
        self.parts = [OwnIndex(url, f"{own.name}-{number}", own.client) for number in range(3)]
        for number in (0, 2):
            self.add(number)

    def add(self, number: int, mapping: dict[str, Any] = ARTICLES) -> OwnIndex:
        part = self.parts[number]
        part.create(mapping, shards=1)
        part.write((str(id_), article(id_)) for id_ in (2 * number, 2 * number + 1))
        self.client.indices.put_alias(index=part.name, name=self.own.name)
        return part

    def configure(self, number: int, setting: str, value: Any) -> None:
        self.client.indices.put_settings(index=self.parts[number].name, body={setting: value})

    def with_fields(self) -> set[str]:
        return {id_ for id_, source in self.own.sources().items() if "winnow" in source}


@pytest.fixture
def alias(own: OwnIndex, engine: Running) -> Iterator[Alias]:
    made = Alias(own, engine.url)
    yield made
    names = ",".join(part.name for part in made.parts)
    for lock in (READ_ONLY, WRITE):  # engines refuse to remove both at once
        own.client.indices.put_settings(index=names, body={lock: None}, params={"ignore_unavailable": "true"})
    own.client.indices.delete(index=names, params={"ignore_unavailable": "true"})
    own.client.indices.delete(index=f"winnow.{own.name}.settings", params={"ignore_unavailable": "true"})


@pytest.mark.parametrize(("setting", "is_attached"), [(LIMIT, True), (READ_ONLY, False), (WRITE, True)])
def test_the_others_get_their_fields(alias: Alias, setting: str, is_attached: bool) -> None:
    own, value = alias.own, 6 if setting == LIMIT else True
    if is_attached:
        own.attach(FIELDS)
    refusing = alias.add(1)
    alias.configure(1, setting, value)
    alias.parts[2].write([("6", article(6))])
    for done in (1, 0) if is_attached else (5, 0):  # the second run tells the same
        report = own.attach(FIELDS)
        assert report.refused == {refusing.name: f"{refusing.name} {REASONS[setting]}"}
        assert (report.documents, report.done, report.failed, report.no_text) == (7, done, 2, 0)
        assert alias.with_fields() == {"0", "1", "4", "5", "6"}
    alias.configure(1, setting, None)
    report = own.attach()
    assert (report.done, report.failed, report.refused) == (2, 0, {})
    assert len(alias.with_fields()) == 7
    alias.configure(1, setting, value)
    assert own.attach().refused == {}  # it has its fields, and needs nothing


def test_an_index_without_a_complete_source_is_left_as_it_is(alias: Alias) -> None:
    alias.own.attach(FIELDS)
    refusing = alias.add(1, {**ARTICLES, "_source": {"excludes": ["author"]}})
    alias.parts[2].write([("6", article(6))])
    before = refusing.mapping()
    assert list(plan(alias.client, alias.own.address).refused) == [refusing.name]
    report = alias.own.attach()
    assert (report.done, report.failed, list(report.refused)) == (1, 2, [refusing.name])
    assert "its _source is not complete" in report.refused[refusing.name]
    assert refusing.mapping() == before


def test_nothing_is_left_if_all_indices_refuse(alias: Alias) -> None:
    for number in (0, 2):
        alias.configure(number, LIMIT, 6)
    with pytest.raises(StoreError, match=r"-0 cannot be given .*Limit of total .* \(and 1 more of its indices\)$"):
        alias.own.attach(FIELDS)
    assert not alias.own.has_settings()
    with pytest.raises(StoreError, match="stands for 2 indices, and is not a store of winnow; `winnow attach`"):
        OpenSearchStore.open(str(alias.own.address))


def test_detaching_changes_nothing_before_it_can_change_all(alias: Alias) -> None:
    client, own, last = alias.client, alias.own, alias.parts[2].name
    own.attach(FIELDS)
    before = client.indices.get_mapping(index=own.name), own.sources()
    for setting in (READ_ONLY, WRITE):
        alias.configure(2, setting, True)
        with pytest.raises(StoreError, match=rf"{last} is locked \({setting}\).*; unlock it first$"):
            own.detach()
        alias.configure(2, setting, None)
    client.indices.close(index=last)
    with pytest.raises(StoreError, match=f"cannot be detached: the index {last} is closed; open it"):
        own.detach()
    client.indices.open(index=last, params={"wait_for_active_shards": "1"})
    assert (client.indices.get_mapping(index=own.name), own.sources()) == before
    assert own.detach().documents == 4


def test_what_the_owner_is_told(winnow: Callable[..., Result], alias: Alias) -> None:  # noqa: F811
    store, refusing = str(alias.own.address), alias.parts[2].name

    def empty(index: str) -> None:
        params = {"refresh": "true", "conflicts": "proceed"}
        alias.client.delete_by_query(index=index, body={"query": {"match_all": {}}}, params=params)

    empty(refusing)
    alias.configure(2, LIMIT, 6)
    made = winnow("attach", store, "--text", "body")
    assert made.exit_code == 1  # though it has no document yet
    assert f"{refusing} {REASONS[LIMIT]}\n" in made.stderr
    assert f"winnow attach {store} --update\n" in made.stderr
    empty(alias.own.name)
    told = winnow("stats", "--store", store)
    assert (told.exit_code, "winnow index" in told.stderr) == (1, False)
    assert f"{store} is empty; " in told.stderr
    alias.parts[0].write([("8", article(8))])
    assert f"{store} has 1 document without fields, and no other; " in winnow("stats", "--store", store).stderr
