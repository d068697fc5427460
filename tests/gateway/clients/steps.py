"""The steps that every client takes, for opensearch-py and curl. steps.mjs and Steps.java take the same.

They are a generator of calls of opensearch-py, which a client answers: the synchronous one, the asynchronous one, or
curl.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Generator, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, TypedDict
from urllib.parse import quote, urlencode

from opensearchpy import AsyncOpenSearch, OpenSearch, TransportError


class StoredArticle(TypedDict):
    id: str
    source: dict[str, Any]


class Refusal(TypedDict):
    refused: int
    body: Any


Call = tuple[str, dict[str, Any]]
Steps = Generator[Call, Any, dict[str, Any]]
END = {"match_phrase": {"body": "The end of edition"}}
QUERY = {"bool": {"filter": [{"term": {"author": "ada"}}], "should": [END]}}
MATCH: dict[str, Any] = {"query": QUERY, "sort": [{"number": "asc"}]}


def steps(index: str, articles: Sequence[StoredArticle], *, grouped: bool) -> Steps:
    """Yield the calls, and return what a client got."""
    got: dict[str, Any] = {}
    sources = [article["source"] for article in articles]
    lines: list[Any] = []
    for article in articles:
        lines += [{"index": {"_index": index, "_id": article["id"]}}, article["source"]]
    lines += [{"create": {"_index": index, "_id": "0"}}, sources[0], {"delete": {"_index": index, "_id": "none"}}]
    bulk = yield "bulk", {"body": lines}
    got["bulk"] = [bulk["errors"], [answer["status"] for item in bulk["items"] for answer in item.values()]]

    changed = sources[3] | {"author": "bo"}
    first = yield "index", {"index": index, "id": "new/1 ä", "body": changed}
    second = yield "index", {"index": index, "id": "new/1 ä", "body": changed | {"body": sources[4]["body"]}}
    unnamed = yield "index", {"index": index, "body": {"headline": "Unnamed"}}
    got["index"] = [value for each in (first, second, unnamed) for value in (each["result"], each["_version"])]

    doc = {"doc": {"body": sources[5]["body"]}}
    script = {"source": "ctx._source.author = params.name", "params": {"name": "eve"}}
    got["update"] = []
    upsert = {"doc": {"author": "cy"}, "upsert": sources[6]}
    for id_, body in (("6", doc), ("6", doc), ("up", upsert), ("7", {"script": script})):
        updated = yield "update", {"index": index, "id": id_, "body": body}
        got["update"].append([updated["result"], updated["_version"]])

    deleted = yield "delete", {"index": index, "id": "8"}
    gone = yield "delete", {"index": index, "id": "8"}
    got["delete"] = [deleted["result"], [gone["refused"], gone["body"]["result"]]]
    stored = yield "get", {"index": index, "id": "6"}
    missing = yield "get", {"index": index, "id": "8"}
    assert missing["body"]["found"] is False
    got["get"] = [stored["_version"], stored["_source"], [missing["refused"], "not found"]]
    got["exists"] = [(yield "exists", {"index": index, "id": "6"}), (yield "exists", {"index": index, "id": "8"})]

    yield "indices.refresh", {"index": index}
    highlight = {"highlight": {"fields": {"body": {"number_of_fragments": 1}}}}
    found = yield "search", {"index": index, "body": MATCH | highlight, "params": {"size": 4}}
    hits = [[hit["_id"], len(hit.get("highlight", {}).get("body", []))] for hit in found["hits"]["hits"]]
    got["search"] = [found["hits"]["total"]["value"], hits]

    again, outdated = {"headline": "Again"}, {"if_seq_no": 99999, "if_primary_term": 1}
    errors = [
        (yield "search", {"index": "no-such-index", "body": {}}),
        (yield "search", {"index": index, "body": {"query": {"query_string": {"query": "((("}}}}),
        (yield "create", {"index": index, "id": "6", "body": again}),
        (yield "index", {"index": index, "id": "strict", "body": {"unknown_field": 1}}),
        (yield "index", {"index": index, "id": "6", "body": again, "params": outdated}),
    ]
    got["errors"] = [[error["refused"], error["body"]["error"]["type"]] for error in errors]
    if grouped:
        got["grouped"] = yield from group_pages(index)
    return got


def group_pages(index: str) -> Generator[Call, Any, list[Any]]:
    """Yield the searches of all pages of groups, and return for each its totals, its hits and their members."""
    pages: list[Any] = []
    for start in range(0, 8, 2):
        page = yield "search", {"index": index, "body": MATCH, "params": {"from": start, "size": 2, "winnow": "group"}}
        hits = []
        for hit in page["hits"]["hits"]:
            members = hit.get("inner_hits", {}).get("winnow", {}).get("hits", {}).get("hits", [])
            hits.append([hit["_id"], sorted(member["_id"] for member in members)])
        pages.append([page["hits"]["total"]["value"], page["ext"]["winnow"]["groups"]["value"], hits])
    return pages


def run(client: OpenSearch | AsyncOpenSearch, taken: Steps, wait: Callable[[Any], Any]) -> dict[str, Any]:
    """Take the steps with a client, the answers of which have to be waited for if it is the asynchronous one."""

    def call(name: str, options: dict[str, Any]) -> Any:
        try:
            return wait(attrgetter(name)(client)(**options))
        except TransportError as error:
            return Refusal(refused=int(error.status_code), body=error.info)

    return _drive(taken, call)


def run_curl(url: str, folder: Path, arguments: Sequence[str], of_bodies: bool, taken: Steps) -> dict[str, Any]:
    """Take the steps with the program curl, which sends each body from a file.

    `arguments` are for all requests, or only for those that have a body.
    """

    def call(name: str, options: dict[str, Any]) -> Any:
        method, path = _address(name, options)
        command = ["curl", "--silent", "--show-error", "--max-time", "60", "--write-out", "\n%{http_code}"]
        if "body" in options or not of_bodies:
            command += arguments
        if name == "exists":
            command += ["--head", "--output", "/dev/null"]
        else:
            command += ["--request", method]
        if (body := options.get("body")) is not None:
            lines = body if isinstance(body, list) else [body]
            file = folder / "body.json"
            file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
            kind = "application/x-ndjson" if name == "bulk" else "application/json"
            command += ["--header", f"Content-Type: {kind}", "--data-binary", f"@{file}"]
        done = subprocess.run([*command, f"{url}/{path}"], check=True, capture_output=True, text=True)
        content, _, status = done.stdout.rpartition("\n")
        if name == "exists":
            return status == "200"
        answer = json.loads(content)
        return Refusal(refused=int(status), body=answer) if int(status) >= 400 else answer

    return _drive(taken, call)


def _address(name: str, options: dict[str, Any]) -> tuple[str, str]:
    index = quote(options.get("index", ""), safe="")
    id_ = quote(options.get("id", ""), safe="")
    query = urlencode(options.get("params", {}))
    method, path = {
        "bulk": ("POST", "_bulk"),
        "index": ("PUT", f"{index}/_doc/{id_}") if id_ else ("POST", f"{index}/_doc"),
        "create": ("PUT", f"{index}/_create/{id_}"),
        "update": ("POST", f"{index}/_update/{id_}"),
        "delete": ("DELETE", f"{index}/_doc/{id_}"),
        "get": ("GET", f"{index}/_doc/{id_}"),
        "exists": ("HEAD", f"{index}/_doc/{id_}"),
        "search": ("POST", f"{index}/_search"),
        "indices.refresh": ("POST", f"{index}/_refresh"),
    }[name]
    return method, f"{path}?{query}" if query else path


def _drive(taken: Steps, call: Callable[[str, dict[str, Any]], Any]) -> dict[str, Any]:
    answer = None
    while True:
        try:
            name, options = taken.send(answer)
        except StopIteration as end:
            result: dict[str, Any] = end.value
            return result
        answer = call(name, options)
