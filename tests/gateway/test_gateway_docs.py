"""Runs the commands and the code of docs/gateway.md, and the example of docs/gateway-search.md."""

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
from tests.gateway.running_gateway import running_gateway
from tests.stores.opensearch.own_articles import OwnIndex, attach

DOCS = Path(__file__).resolve().parents[2] / "docs"
PAGE, SEARCH, OWN_INDEX = (
    (DOCS / name).read_text(encoding="utf-8") for name in ("gateway.md", "gateway-search.md", "own-index.md")
)
NAME = "docs-grouped"  # other tests run the other pages on the same engine


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)


def test_examples_run(engine: Running, attached: OwnIndex) -> None:
    with running_gateway(engine.url) as gateway:
        page = PAGE.replace("http://localhost:9201", gateway).replace("articles", attached.name)
        (commands,), (code,) = blocks(page, "bash"), blocks(page, "python")
        done = subprocess.run(["bash", "-ec", commands], stdout=subprocess.PIPE, check=True)
        written, read, about = map(json.loads, done.stdout.replace(b"}{", b"}\n{").splitlines())
        assert written["result"] == "created"
        assert read["_source"]["winnow"]["url"] == "1"
        shown = re.search(r'^`(\{"documents".*\})`', PAGE, re.MULTILINE)
        assert shown is not None
        assert json.loads(shown[1]) == about
        names: dict[str, Any] = {}
        exec(code, names)
        names["client"].close()


def without_time(answer: dict[str, Any]) -> Any:
    """Return an answer without its time. Hits of old engines have a type."""
    return json.loads(json.dumps(answer | {"took": 0}).replace('"_type": "_doc", ', ""))


@pytest.mark.check
@pytest.mark.xdist_group("grouped-search")
def test_the_example_of_a_search_answers_as_shown(client: OpenSearch, engine: Running, gateway: str) -> None:
    names: dict[str, Any] = {}
    articles = re.search(r"^mill = .*?^}$", OWN_INDEX, re.MULTILINE | re.DOTALL)
    assert articles
    exec(articles.group(), names)
    fields = {"author": {"type": "keyword"}, "headline": {"type": "text"}, "body": {"type": "text"}}
    client.indices.create(index=NAME, body={"mappings": {"properties": fields}})
    for id_, article in names["articles"].items():
        client.index(index=NAME, id=id_, body=article, params={"refresh": "true"})
    attach(client, Address.of(f"{engine.url}/{NAME}"), AttachedFields(text=("body",), title="headline"))
    (shown,) = blocks(SEARCH, "console")
    command, answer = re.split(r"(?<=')\n(?=\{\n)", shown.removeprefix("$ "), maxsplit=1)
    there = command.replace("http://localhost:9201/articles", f"{gateway}/{NAME}")
    done = subprocess.run(["bash", "-c", there], capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout.replace(NAME, "articles"))
    assert without_time(seen) == without_time(json.loads(answer)), done.stdout
    assert done.stdout.startswith('{\n  "took": ')
    client.indices.delete(index=f"{NAME},winnow.{NAME}.settings")


def test_all_options_of_a_search_are_described() -> None:
    assert not [name for name in OPTIONS if f"| `{name}` |" not in SEARCH]
    assert not [name for name in REFUSED if not name.startswith(("suggest_", "sub_")) and f"`{name}`" not in SEARCH]
