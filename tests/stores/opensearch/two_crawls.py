"""Two crawls of small sites, and what a store on an engine holds after they were indexed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from opensearchpy import OpenSearch, helpers

from tests.stores.opensearch.own_articles import text

PAGES = 120  # in the first crawl


def write_crawls(folder: Path) -> list[Path]:
    """Write two crawls: in the second, every third page has another text, and there are new pages. Some are copies."""
    files = []
    for crawl, number_of_pages in enumerate((PAGES, PAGES + 30)):
        pages = []
        for number in range(number_of_pages):
            words = f"{text(number % (10 if number % 4 == 0 else PAGES))} {crawl if number % 3 == 0 else ''}"
            pages.append((f"http://site{number % 7}.example/{number}", words, f"2026-01-0{1 + crawl}T00:00:00Z"))
        files.append(folder / f"{crawl}.jsonl")
        write_lines(files[-1], pages)
    return files


def write_lines(file: Path, pages: Iterable[tuple[str, str, str]]) -> None:
    """Write pages with these URLs, texts and times, as JSON lines."""
    made = (dict(zip(("url", "text", "fetched_at"), page, strict=True)) for page in pages)
    file.write_text("".join(json.dumps(each) + "\n" for each in made))


def contents(client: OpenSearch, name: str, *, arrivals: bool = False) -> dict[str, Any]:
    """Return all documents of a store by index and id. Two runs have different arrivals, but in the same order."""
    client.indices.refresh(index=f"{name},{name}.settings")
    pages = list(helpers.scan(client, index=name, query={"sort": ["arrival"]}, preserve_order=True))
    found = {hit["_id"]: hit["_source"] if arrivals else hit["_source"] | {"arrival": 0} for hit in pages}
    assert len(found) == len(pages)
    settings = helpers.scan(client, index=f"{name}.settings")
    return {"pages": list(found.items()), "settings": {hit["_id"]: _without_times(hit["_source"]) for hit in settings}}


def remove(client: OpenSearch, name: str) -> None:
    client.indices.delete(index=f"{name}-*,{name}.settings", params={"ignore_unavailable": "true"})


def _without_times(source: dict[str, Any]) -> Any:
    value = json.loads(source["value"])
    if not isinstance(value, dict):
        return value
    return {key: each for key, each in value.items() if key not in ("seconds", "at")}
