"""Runs the example of docs/gateway-search.md with curl, and compares its answer."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow.gateway.searching.client_search import REFUSED
from opensearch_winnow.gateway.searching.group_options import OPTIONS
from opensearch_winnow.mappings.attached_fields import AttachedFields
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address
from tests.stores.opensearch.own_articles import attach

DOCS = Path(__file__).resolve().parent.parent.parent / "docs"
PAGE = (DOCS / "gateway-search.md").read_text(encoding="utf-8")
ARTICLES = re.search(r"^mill = .*?^}$", (DOCS / "own-index.md").read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
NAME = "docs-grouped"  # other tests run the other pages on the same engine


def without_time(answer: dict[str, Any]) -> dict[str, Any]:
    """Return an answer without its time. Hits of old engines have a type."""
    del answer["took"]
    text = json.dumps(answer)
    found: dict[str, Any] = json.loads(text.replace('"_type": "_doc", ', ""))
    return found


@pytest.mark.check
@pytest.mark.xdist_group("grouped-search")
def test_the_example_answers_as_shown(client: OpenSearch, engine: Running, gateway: str) -> None:
    names: dict[str, Any] = {}
    assert ARTICLES
    exec(ARTICLES.group(), names)
    fields = {"author": {"type": "keyword"}, "headline": {"type": "text"}, "body": {"type": "text"}}
    client.indices.create(index=NAME, body={"mappings": {"properties": fields}})
    for id_, article in names["articles"].items():
        client.index(index=NAME, id=id_, body=article, params={"refresh": "true"})
    attach(client, Address.of(f"{engine.url}/{NAME}"), AttachedFields(text=("body",), title="headline"))
    (shown,) = re.findall(r"^```console\n\$ (.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    command, answer = re.split(r"(?<=')\n(?=\{\n)", shown, maxsplit=1)
    there = command.replace("http://localhost:9201/articles", f"{gateway}/{NAME}")
    done = subprocess.run(["bash", "-c", there], capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout.replace(NAME, "articles"))
    assert without_time(seen) == without_time(json.loads(answer)), done.stdout
    assert done.stdout.startswith('{\n  "took": ')
    client.indices.delete(index=f"{NAME},winnow.{NAME}.settings")


def test_all_options_are_described() -> None:
    for name in OPTIONS:
        assert f"| `{name}` |" in PAGE
    named = {name for name in REFUSED if not name.startswith(("suggest_", "sub_"))}
    assert not [name for name in named if f"`{name}`" not in PAGE]
