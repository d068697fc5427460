"""Checks docs/connecting.md against the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from opensearchpy import OpenSearch

from opensearch_winnow import Index, Page
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address

VARIABLE = re.compile(r"WINNOW_[A-Z_]+")


@pytest.fixture
def guide(root: Path) -> str:
    return (root / "docs/connecting.md").read_text(encoding="utf-8")


def test_every_variable_and_address_in_the_guide_is_valid(guide: str, root: Path) -> None:
    read = VARIABLE.findall((root / "stores/opensearch/requests/connection_options.py").read_text(encoding="utf-8"))
    assert set(VARIABLE.findall(guide)) == {*read, "WINNOW_STORE", "WINNOW_KEY_FILE"}
    addresses = re.findall(r"^\| `(http\S+)`", guide, re.MULTILINE)
    assert [Address.of(each).index for each in addresses] == ["pages"] * 6


def test_the_example_can_be_run(
    guide: str, engine: Running, client: OpenSearch, capsys: pytest.CaptureFixture[str]
) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    name = "connecting-guide"
    address = f"{engine.url}/{name}"
    try:
        with Index.open(address) as index:
            index.add([Page("http://example.org/", text="These are the words of a page that has enough of them.")])
        exec(block.replace("http://localhost:9200/pages", address).replace("http://localhost:9200", engine.url), {})
    finally:
        client.indices.delete(index=f"{name}*")
    assert capsys.readouterr().out == "1\n"
