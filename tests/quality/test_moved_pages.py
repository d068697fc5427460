"""Pages of a manual that moved from one release to the next are located, on both stores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.stores.engine.running import Running
from tests.quality.releases import MANUALS, Manual, add_crawls, moves, outcomes, without_release

pytestmark = [pytest.mark.check, pytest.mark.xdist_group("moved-pages")]

RECALL = 0.97  # measured: see benchmarks/README.md
QUESTIONS = 100  # on each store; benchmarks/locate.py looks for all pages
FIRST_WAY = "release in the URL"
WAYS = {FIRST_WAY: lambda url: url, "one URL for all releases": without_release}


@pytest.mark.parametrize(
    "way", [way if way == FIRST_WAY else pytest.param(way, marks=pytest.mark.soak) for way in WAYS]
)
@pytest.mark.parametrize("manual", MANUALS, ids=lambda manual: manual.name)
def test_where_pages_went(
    manual: Manual, way: str, request: pytest.FixtureRequest, engine: Running, tmp_path: Path
) -> None:
    unpacked = None if manual.public else request.getfixturevalue("unpacked")
    known = moves(list(manual.pages(unpacked)), WAYS[way])
    urls = sorted(known.best)[:: max(len(known.best) // QUESTIONS, 1)]
    some = {url: known.best[url] for url in urls}
    with Index.open(tmp_path / "crawl.winnow") as file, Index.open(f"{engine.url}/moved-{uuid4().hex}") as remote:
        for index in (file, remote):
            add_crawls(index, known.pages)
            found = outcomes(index, some)
            assert not found.moved or found.recall >= RECALL
            assert found.not_found == found.gone
        for url in urls[::10]:
            assert replace(file.locate(url), seconds=0.0) == replace(remote.locate(url), seconds=0.0)
            assert file.versions(url).versions == remote.versions(url).versions
