"""Attaching is killed, a node dies, the engine is busy, others write: nothing is lost, nothing is stale unnoticed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from random import Random
from threading import Event, Thread
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Index
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address, connect
from tests.stores.opensearch.faulty_proxy import QUICK_FAULTS, FaultyProxy, share
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, article, attach, text

pytestmark = pytest.mark.check

WINNOW = Path(sys.executable).with_name("winnow")
DOCUMENTS = 3_000
KILLS = 20


@pytest.fixture
def filled(own: OwnIndex) -> OwnIndex:
    """An index of articles, of which one in ten is a copy."""
    own.create()
    own.write((str(number), any_article(number)) for number in range(DOCUMENTS))
    return own


def any_article(number: int) -> dict[str, Any]:
    return article(number % 3) if number % 10 == 0 else {"headline": f"Article {number}", "body": text(number)}


def check_all_is_right(own: OwnIndex, address: Address | None = None) -> None:
    """Compare every page of the attached index with the fields that a text makes."""
    bodies = {id_: source["body"] for id_, source in own.sources().items() if source.get("body")}
    with Index.open(str(address or own.address), create=False) as index:
        assert index.statistics().stale == 0
        pages = list(index.store.scan(Record))
        assert {page.url: page.text for page in pages} == bodies
        for page in Random(0).sample(pages, 200):
            made = index._pages.text_record(page.text, None)
            assert made.hashes == page.hashes


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 11))])
def test_a_run_that_is_killed_at_any_moment_continues(filled: OwnIndex, tmp_path: Path, seed: int) -> None:
    before, random, killed = filled.sources(), Random(seed), 0
    options = ["--text", "body", "--title", "headline", "--quiet", "--per-second", "300"]
    command: list[str | Path] = [WINNOW, "attach", str(filled.address), *options]
    for _ in range(KILLS):
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
            try:
                run.wait(timeout=0.6 + random.random() * 1.2)
            except subprocess.TimeoutExpired:
                os.kill(run.pid, signal.SIGKILL)
                killed += 1
        filled.change(str(random.randrange(DOCUMENTS)), body=text(f"changed {killed}"))
    assert killed > KILLS / 2
    changed = {id_: source["body"] for id_, source in filled.without_ours().items() if source != before[id_]}
    assert 0 < len(changed) <= KILLS
    filled.attach(FIELDS)  # on a busy machine, no run may have come so far as to attach the index
    check_all_is_right(filled)
    for id_, body in changed.items():
        before[id_]["body"] = body
    assert filled.without_ours() == before
    filled.detach()
    assert filled.sources() == before


def test_a_busy_engine_and_a_bad_line_delay_it_only(filled: OwnIndex, engine: Running) -> None:
    with FaultyProxy(engine.url, share(0.3, QUICK_FAULTS), meant=lambda _: True) as proxy:
        address = Address.of(f"{proxy.url}/{filled.name}")
        with connect(address, patient=True) as client:
            report = attach(client, address, FIELDS)
        assert (report.documents, report.failed, report.no_text) == (DOCUMENTS, 0, 0)
        assert proxy.spoiled.total() > 20
    check_all_is_right(filled)


def test_others_may_write_all_the_time(filled: OwnIndex) -> None:
    random, stop = Random(0), Event()
    bodies = {str(number): any_article(number)["body"] for number in range(DOCUMENTS)}

    def write() -> None:
        for step in count():
            if stop.is_set():
                return
            id_, body = str(random.randrange(DOCUMENTS + 500)), text(f"step {step}", 60)
            if step % 4 == 0 and id_ in bodies:
                changed = {"doc": {"body": body}}
                filled.client.update(index=filled.name, id=id_, body=changed, params={"retry_on_conflict": "9"})
            elif step % 10 == 1 and id_ in bodies:
                filled.client.delete(index=filled.name, id=id_)
                del bodies[id_]
                continue
            else:
                filled.client.index(index=filled.name, id=id_, body={"body": body})
            bodies[id_] = body
            time.sleep(0.002)

    writer = Thread(target=write)
    writer.start()
    try:
        filled.attach(FIELDS)
        filled.attach()
    finally:
        stop.set()
        writer.join()
    filled.client.indices.refresh(index=filled.name)
    assert {id_: source["body"] for id_, source in filled.sources().items()} == bodies
    filled.attach()
    check_all_is_right(filled)


@pytest.mark.xdist_group("nodes")
def test_a_killed_node_loses_nothing(start_engine: Callable[..., Running]) -> None:
    engine = start_engine(nodes=3)
    urls = list(engine.urls.values())
    with OpenSearch(urls, timeout=60, dead_timeout=1) as client:
        own = OwnIndex(urls[0], "articles", client)
        settings = {"number_of_shards": 3, "number_of_replicas": 1}
        client.indices.create(index="articles", body={"settings": settings}, wait_for_active_shards="all")
        own.write((str(number), any_article(number)) for number in range(DOCUMENTS))
        address = Address.of(f"http://{','.join(url.removeprefix('http://') for url in urls)}/articles")
        killed: list[str] = []

        def kill_once(*_: object) -> None:
            """Kill a node when all shards have their copies: a new index may have had none yet."""
            if not killed:
                client.cluster.health(params={"wait_for_status": "green"})
                os.kill(engine.pids["node-2"], signal.SIGKILL)
                killed.append("node-2")

        with connect(address, patient=True) as patient:
            attach(patient, address, FIELDS, per_second=600, progress=kill_once)
            report = attach(patient, address)
        assert killed
        assert (report.documents, report.failed) == (DOCUMENTS, 0)
        check_all_is_right(own, address)
