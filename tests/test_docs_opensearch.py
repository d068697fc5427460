"""Runs the code of the pages about OpenSearch in docs/ on a real engine, one block after the other."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.index import Index
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import engine_of
from opensearch_winnow.stores.opensearch.upkeep.setup import set_up

DOCS = Path(__file__).resolve().parent.parent / "docs"
NAMES = ("own-index.md", "own-searches.md", "opensearch.md")  # the first makes the index of the others
PAGES = "".join((DOCS / name).read_text(encoding="utf-8") for name in NAMES)
USUAL = "http://localhost:9200"


@pytest.mark.check
def test_code_runs(engine: Running) -> None:
    # Use separate names: other tests share the engine.
    pages = PAGES.replace(f"{USUAL}/pages", f"{USUAL}/docs-pages").replace('"pages"', '"docs-pages"')
    with OpenSearch(engine.url) as client:
        set_up(client, "docs-pages")
        points_in_time = engine_of(client).point_in_time
    blocks = re.findall(r"^```python\n(.*?)^```", pages.replace(USUAL, engine.url), re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        if "search_groups" in block and not points_in_time:
            continue  # the page says that it needs them
        exec(block, names)
        used = names.pop("client", None)
        if isinstance(used, OpenSearch):
            used.close()
    assert names["found"]
    with Index.open(f"{engine.url}/docs-pages") as index:
        assert index.search("best times").total == 1
