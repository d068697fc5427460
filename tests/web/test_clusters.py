"""The clusters screen, and clustering started from it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from opensearch_winnow import Index
from opensearch_winnow.web.clustering_run import STOPPED, ClusteringRun
from opensearch_winnow.web.pages import Pages
from opensearch_winnow.web.screen_request import ScreenRequest, ServerState
from opensearch_winnow.web.screens.clusters.clusters import SCREEN
from opensearch_winnow.web.served import ServedStore
from tests.web.conftest import Serve, Unclustered
from tests.web.known_clusters import FIRST, MILL_PAGES, lowest_by_force
from tests.web.known_crawl_fixture import HARBOUR, HARBOURS, IDS, MILL, PAGES
from tests.web.served_fixture import Served


def test_clusters_are_listed_the_largest_first(served: Served) -> None:
    found = served.json("/clusters.json")
    harbours = [IDS[url] for url in (HARBOUR, *HARBOURS)]
    assert [(each["id"], each["pages"], each["urls"], each["sites"]) for each in found["clusters"]] == [
        (FIRST, 7, 4, 4), (IDS[HARBOUR], 4, 4, 4)
    ]  # fmt: skip
    assert (found["found"], found["largest"], found["repeats"], found["among"]) == (2, 4, 0, None)
    assert found["pages"] == len(PAGES)
    assert not found["more"]
    mill, harbour = found["clusters"]
    assert mill["representative"]["url"] == MILL
    assert (mill["texts"], harbour["texts"]) == (3, 4)  # the same words in capitals are the same text
    assert mill["lowest"] == pytest.approx(lowest_by_force(MILL_PAGES))
    assert harbour["lowest"] == pytest.approx(lowest_by_force(harbours))
    assert (mill["kind"], harbour["kind"]) == ("exact", "exact")
    reply = served.get("/clusters")
    assert reply.heading == "2 clusters, the largest with 4 pages"
    assert "4 <small>7 captures</small>" in reply.text
    assert reply.text.count("captures</small>") == 1
    table = served.get("/clusters.csv").rows
    assert [(each["id"], each["pages"], each["urls"], each["url"]) for each in table] == [
        (FIRST, "7", "4", MILL), (IDS[HARBOUR], "4", "4", HARBOUR)
    ]  # fmt: skip
    assert "Back to the first page" in served.get("/clusters?limit=1&page=3").text
    assert served.get("/clusters.json?page=2001").status == 400  # more than are sorted


@pytest.mark.parametrize(
    ("query", "heading"),
    [
        ("min_urls=4", "2 clusters of 4 pages or more, the largest with 4 pages"),
        ("min_urls=5", "No clusters of 5 pages or more"),  # though one of them has seven captures
        ("site=Sea.Example", "1 cluster with a page on sea.example"),
        ("site=farm.example", "No clusters with a page on farm.example"),
    ],
)
def test_the_heading_counts_those_that_are_asked_for(served_file: Served, query: str, heading: str) -> None:
    reply = served_file.get(f"/clusters?{query}")
    assert reply.heading == heading
    assert ('<a href="/clusters">Show all clusters</a>' in reply.text) == heading.startswith("No")


@pytest.mark.check
def test_a_store_without_clusters_says_how_to_get_them(unclustered: Unclustered, serve: Serve) -> None:
    served = serve(unclustered(PAGES))
    reply = served.get("/clusters")
    assert reply.heading == f"{len(PAGES)} captures, not clustered yet"
    assert f"winnow cluster --store {Path(served.store).name}<" in reply.text
    assert 'action="/clusters' not in reply.text
    assert served.form("/clusters/start", threshold="0.5").status == 403
    alone = served.get(f"/cluster/{IDS[MILL]}")
    assert alone.heading.startswith("No near-duplicates")
    assert "not clustered yet" in alone.text
    assert "winnow cluster --store" in served.get(f"/page/{IDS[MILL]}").text


def until_done(served: Served) -> Any:
    while (found := served.json("/clusters.json"))["running"]:
        pass
    return found


@pytest.mark.check
def test_a_visitor_who_may_write_has_the_store_clustered(unclustered: Unclustered, serve: Serve) -> None:
    served = serve(unclustered(PAGES), "--write")
    assert "Visitors may change it" in served.said
    for _ in range(2):  # the second time one is running, or has done it
        reply = served.form("/clusters/start", threshold="0.6")
        assert (reply.status, reply.headers["location"]) == (303, "/clusters")
    found = until_done(served)
    assert found["failure"] is None
    assert found["clustering"]["threshold"] == 0.6
    assert found["clusters"]


@pytest.mark.check
@pytest.mark.parametrize("threshold", ["0", "1.1", "half"])
def test_a_threshold_that_is_none(own_file: Path, serve: Serve, threshold: str) -> None:
    served = serve(own_file, "--write")
    reply = served.form("/clusters/start", threshold=threshold)
    assert reply.status == 400
    assert "threshold is a share above 0 and at most 1" in reply.text
    assert served.json("/clusters.json")["running"] is None


class Gate:
    """Opens a store only when the test lets it."""

    def __init__(self, path: Path) -> None:
        self.path, self.told = path, Event()

    def __call__(self) -> Index:
        self.told.wait(60)
        return Index.open(self.path, create=False)


def finish(run: ClusteringRun) -> None:
    while run.running():
        Event().wait(0.01)


def test_a_clustering_is_stopped(own_file: Path) -> None:
    with Index.open(own_file) as index:
        before = index.clustering()
        gate = Gate(own_file)
        run = ClusteringRun(gate)
        assert run.running() is None
        run.start(0.9)
        running = run.running()
        assert running
        assert (running.phase, running.stopping) == ("starting", False)
        run.stop()
        stopping = run.running()
        assert stopping
        assert stopping.stopping
        gate.told.set()
        finish(run)
        assert run.failure == STOPPED
        assert index.clustering() == before
        run.start(0.9)
        finish(run)
        assert run.failure == ""
        last = index.clustering()
        assert last
        assert last.threshold == 0.9


def test_one_that_is_going_on_is_shown(own_file: Path) -> None:
    gate = Gate(own_file)
    run = ClusteringRun(gate)
    run.start(0.9)
    with Index.open(own_file) as index:
        request = ScreenRequest.parse(
            "/clusters",
            SCREEN.parameters,
            path_values={},
            query={},
            form={},
            state=replace(ServerState.of(ServedStore(str(own_file), gate), 30), clustering=run),
        )
        answered = SCREEN.answer(index, request)
        assert answered.document.running.phase == "starting"
        assert answered.document.clusters  # those of before
        html = (
            Pages(store="own", may_write=True)
            .render("clusters", screen=SCREEN, request=request, answer=answered.document, **answered.template_values())
            .decode()
        )
    assert '<meta http-equiv="refresh" content="2">' in html
    assert "<progress></progress>" in html
    assert 'action="/clusters/stop"' in html
    assert 'action="/clusters/start"' not in html
    run.stop()
    gate.told.set()
    run.close()
    assert run.running() is None


def test_a_clustering_that_cannot_be_done_says_why(tmp_path: Path) -> None:
    gate = Gate(tmp_path / "gone.winnow")
    gate.told.set()
    run = ClusteringRun(gate)
    run.start(0.5)
    finish(run)
    assert run.failure.startswith("The clustering failed: ")
    assert "gone.winnow" in run.failure
