"""Long runs finish over a path that spoils requests of every kind, and leave what an undisturbed run leaves."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Index, StoreError
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address, connect
from opensearch_winnow.stores.opensearch.requests.retries import Patience
from opensearch_winnow.stores.opensearch.requests.transport import PatientTransport
from opensearch_winnow.stores.opensearch.upkeep.migrate import migrate
from tests.stores.opensearch.faulty_proxy import QUICK_FAULTS, Choice, Fault, FaultyProxy, share
from tests.stores.opensearch.gateway import Arrived
from tests.stores.opensearch.two_crawls import PAGES, contents, remove, write_crawls

pytestmark = pytest.mark.check
LONG = pytest.mark.soak

WINNOW = Path(sys.executable).with_name("winnow")
NUMBERS = count()
BEFORE: tuple[Fault, ...] = ("busy", "unavailable", "reset before")
AFTER: tuple[Fault, ...] = ("bad gateway", "reset after", "half of an answer")


def kind_of(arrived: Arrived) -> str:
    """Return what a request is for."""
    path = arrived.path.partition("?")[0]
    first, _, last = path.strip("/").rpartition("/")
    if path == "/_bulk":
        return "bulk"
    if path.startswith(("/_ingest", "/_scripts", "/_search/pipeline", "/_index_template")):
        return "set-up"
    if ".settings/" in path:
        return "settings"
    if last == "_refresh":
        return "refresh"
    if last in ("_search", "_msearch", "_mget", "_mtermvectors", "_search_shards", "_count"):
        return "clusters" if b'"aggs"' in arrived.body else "look-ups"
    if "point_in_time" in path:
        return "points in time"
    return "opening" if last == "_mapping" or not path.strip("/") else "set-up" if not first else "other"


KINDS = ("opening", "set-up", "settings", "look-ups", "bulk", "refresh", "points in time")


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return write_crawls(tmp_path_factory.mktemp("sources"))


def load(store: str, sources: list[Path], folder: Path) -> None:
    """Index two crawls one after the other, cluster them, and write the clusters back."""
    with Index.open(store, patient=True) as index:
        for source in sources:
            report = index.index(source, workers=1, failed=folder / "failed.jsonl")
            assert not report.failed
        index.cluster(work=str(folder))
        index.store.settings.set({"a setting": [1, 2]})
        index.store.settings.set({"a setting": None})
        assert index.store.count() > PAGES
        assert index.store.clusters(limit=10)


@pytest.fixture(scope="module")
def undisturbed(engine: Running, client: OpenSearch, sources: list[Path], tmp_path_factory: Any) -> dict[str, Any]:
    name = f"undisturbed-{os.getpid()}"
    load(f"{engine.url}/{name}", sources, tmp_path_factory.mktemp("work"))
    found = contents(client, name)
    remove(client, name)
    return found


@pytest.fixture
def name(client: OpenSearch) -> Iterator[str]:
    name = f"flaky-{os.getpid()}-{next(NUMBERS)}"
    yield name
    remove(client, name)


@pytest.fixture(autouse=True)
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WINNOW_TIMEOUT", "3")


def meant(kind: str) -> Callable[[Arrived], bool]:
    return lambda arrived: kind_of(arrived) == kind


@pytest.fixture
def load_through(
    engine: Running, client: OpenSearch, name: str, sources: list[Path], undisturbed: Any, tmp_path: Path
) -> Callable[..., FaultyProxy]:
    """Return a function that loads the crawls over such a path, and compares what is there then."""

    def load_them(faults: Choice, meant: Callable[[Arrived], bool] = lambda _: True) -> FaultyProxy:
        with FaultyProxy(engine.url, faults, meant=meant) as proxy:
            load(f"{proxy.url}/{name}", sources, tmp_path)
        assert proxy.spoiled.total()
        assert contents(client, name) == undisturbed
        return proxy

    return load_them


@pytest.mark.parametrize("part", [pytest.param(0.05, marks=LONG), 0.3, pytest.param(0.6, marks=LONG)])
def test_a_share_of_all_requests_fails(
    load_through: Callable[..., FaultyProxy], part: float, record_property: Callable[[str, int], None]
) -> None:
    proxy = load_through(share(part, QUICK_FAULTS))
    assert proxy.spoiled.total() > proxy.requests * part / 3
    record_property("requests", proxy.requests)
    record_property("faults", proxy.spoiled.total())


@pytest.mark.parametrize("faults", [pytest.param(BEFORE, marks=LONG), AFTER], ids=["on the way", "on the way back"])
@pytest.mark.parametrize("kind", KINDS)
def test_most_requests_of_a_kind_fail(
    load_through: Callable[..., FaultyProxy], kind: str, faults: tuple[Fault, ...]
) -> None:
    load_through(share(0.6, faults), meant(kind))


@LONG
def test_answers_that_never_come(load_through: Callable[..., FaultyProxy]) -> None:
    """Bulk requests are left out: their time limit is a minute."""
    load_through(share(0.1, ("timeout after",)), lambda each: kind_of(each) != "bulk")


def test_the_command(
    engine: Running, client: OpenSearch, name: str, sources: list[Path], undisturbed: Any, tmp_path: Path
) -> None:
    with FaultyProxy(engine.url, share(0.3, QUICK_FAULTS), seed=1, meant=lambda _: True) as proxy:
        store = ["--store", f"{proxy.url}/{name}", "--quiet"]
        indexing = [["index", str(source), "--workers", "1"] for source in sources]
        for words in [*indexing, ["cluster"]]:
            subprocess.run([WINNOW, *words, *store], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    assert contents(client, name)["pages"] == undisturbed["pages"]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=LONG) for seed in range(1, 10))])
def test_a_migration(engine: Running, client: OpenSearch, name: str, sources: list[Path], seed: int) -> None:
    with Index.open(f"{engine.url}/{name}") as index:
        index.index(sources[0], workers=1, failed=sources[0].with_suffix(".failed"))
    before = contents(client, name, arrivals=True)
    with FaultyProxy(engine.url, share(0.3, QUICK_FAULTS), seed=seed, meant=lambda _: True) as proxy:
        address = Address.of(f"{proxy.url}/{name}")
        with connect(address, patient=True) as patient:
            for old, new in ((1, 2), (2, 3)):
                done = migrate(patient, name, shards=3, delete_old=True)
                assert (done.old, done.new, done.pages) == (f"{name}-{old:06}", f"{name}-{new:06}", PAGES)
        assert proxy.spoiled.total()
    assert contents(client, name, arrivals=True) == before
    assert list(client.indices.get(index=f"{name}-*")) == [f"{name}-000003"]


def test_giving_up_is_one_clear_sentence(
    engine: Running, name: str, sources: list[Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PatientTransport, "patience", Patience(6.0, tries=2, after_timeouts=True))
    always = share(1.0, ("unavailable",))
    with FaultyProxy(engine.url, always, meant=meant("look-ups")) as proxy, pytest.raises(StoreError) as error:
        load(f"{proxy.url}/{name}", sources, tmp_path)
    assert str(error.value).startswith(f"{proxy.url}/{name} cannot be read: the cluster has no manager")
    assert " times in " in str(error.value)
