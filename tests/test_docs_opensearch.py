"""Runs the code of docs/opensearch.md on a real engine, one block after the other."""

from __future__ import annotations

import re
from pathlib import Path

from opensearchpy import OpenSearch

from opensearch_winnow.index import Index
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.setup import set_up

PAGE = Path(__file__).resolve().parent.parent / "docs" / "opensearch.md"
USUAL = "http://localhost:9200"


def test_code_runs(engine: Running) -> None:
    # Use separate names: other tests share the engine.
    page = (
        PAGE.read_text(encoding="utf-8")
        .replace(f"{USUAL}/pages", f"{USUAL}/docs-pages")
        .replace('"pages"', '"docs-pages"')
    )
    with OpenSearch(engine.url) as client:
        set_up(client, "docs-pages")
    blocks = re.findall(r"^```python\n(.*?)^```", page.replace(USUAL, engine.url), re.MULTILINE | re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block, names)
        used = names.pop("client", None)
        if isinstance(used, OpenSearch):
            used.close()
    assert names["found"]
    with Index.open(f"{engine.url}/docs-pages") as index:
        assert index.search("best times").total == 1


def test_named_options_exist() -> None:
    named = set(re.findall(r"(--[a-z][a-z-]+)", PAGE.read_text(encoding="utf-8")))
    known = set(re.findall(r"(--[a-z][a-z-]+)", PAGE.with_name("cli.md").read_text(encoding="utf-8")))
    assert named
    assert named <= known
