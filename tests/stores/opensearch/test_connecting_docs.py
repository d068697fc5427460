"""Checks docs/connecting.md against the code."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.stores.engine.running import Running
from opensearch_winnow.stores.opensearch.requests.client import Address, connect

VARIABLE = re.compile(r"WINNOW_[A-Z_]+")


@pytest.fixture
def guide(root: Path) -> str:
    return (root / "docs/connecting.md").read_text(encoding="utf-8")


def test_every_variable_is_documented(guide: str, root: Path) -> None:
    read = VARIABLE.findall((root / "stores/opensearch/requests/connection_options.py").read_text(encoding="utf-8"))
    assert set(VARIABLE.findall(guide)) == {*read, "WINNOW_STORE", "WINNOW_KEY_FILE"}


def test_every_address_in_the_guide_is_valid(guide: str) -> None:
    addresses = re.findall(r"^\| `(http\S+)`", guide, re.MULTILINE)
    assert len(addresses) == 6
    for each in addresses:
        assert Address.of(each).index == "pages"


def test_the_example_can_be_run(guide: str, engine: Running, capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    name = "connecting-guide"
    address = f"{engine.url}/{name}"
    try:
        with Index.open(address) as index:
            index.add(
                [Page("http://example.org/", text="These are the words of a page that is long enough to have some.")]
            )
        exec(block.replace("http://localhost:9200/pages", address).replace("http://localhost:9200", engine.url), {})
    finally:
        client = connect(Address.of(address))
        client.indices.delete(index=f"{name}*")
        client.close()
    assert capsys.readouterr().out == "1\n"
