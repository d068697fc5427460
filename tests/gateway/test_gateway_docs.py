"""Runs the commands and the code of docs/gateway.md."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import msgspec

from opensearch_winnow.stores.engine.running import Running
from tests.gateway.running_gateway import running_gateway
from tests.stores.opensearch.own_articles import OwnIndex

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "gateway.md").read_text(encoding="utf-8")


def test_examples_run(engine: Running, attached: OwnIndex) -> None:
    with running_gateway(engine.url) as gateway:

        def blocks(language: str) -> list[str]:
            page = PAGE.replace("http://localhost:9201", gateway).replace("articles", attached.name)
            return re.findall(rf"^```{language}\n(.*?)^```", page, re.MULTILINE | re.DOTALL)

        (commands,) = blocks("bash")
        done = subprocess.run(["bash", "-ec", commands], stdout=subprocess.PIPE, check=True)
        written, read, about = msgspec.json.Decoder().decode_lines(done.stdout.replace(b"}{", b"}\n{"))
        assert written["result"] == "created"
        assert read["_source"]["winnow"]["url"] == "1"
        shown = re.search(r'^`(\{"documents".*\})`', PAGE, re.MULTILINE)
        assert shown is not None
        assert msgspec.json.decode(shown[1]) == about
        (code,) = blocks("python")
        names: dict[str, object] = {}
        exec(code, names)
        names["client"].close()  # type: ignore[attr-defined]
