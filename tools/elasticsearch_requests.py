"""Writes tests/stores/opensearch/elasticsearch_requests.json: what Elasticsearch 8 and 9 accept at the paths we use.

    python -m tools.elasticsearch_requests 8.19 API WHEEL 9.3 API WHEEL

API holds the REST specification of a version, one JSON file for each endpoint: the jar org.elasticsearch:rest-api-spec
of Maven Central, or the folder specification/_json_spec of a branch of github.com/elastic/elasticsearch-specification,
which also has the versions that are not on Maven Central. WHEEL is the package `elasticsearch` of that version from
PyPI, which names the keys of the bodies. Run it by hand when a version is added, or an endpoint.
"""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Any
from zipfile import ZipFile, is_zipfile

OUTPUT = Path(__file__).parent.parent / "tests" / "stores" / "opensearch" / "elasticsearch_requests.json"
ENDPOINTS = (
    "bulk",
    "clear_scroll",
    "close_point_in_time",
    "cluster.delete_component_template",
    "cluster.get_component_template",
    "cluster.put_component_template",
    "count",
    "delete_script",
    "get",
    "get_script",
    "indices.add_block",
    "indices.create",
    "indices.delete",
    "indices.delete_template",
    "indices.exists",
    "indices.flush",
    "indices.forcemerge",
    "indices.get",
    "indices.get_alias",
    "indices.get_index_template",
    "indices.get_mapping",
    "indices.get_settings",
    "indices.get_template",
    "indices.put_index_template",
    "indices.put_mapping",
    "indices.put_settings",
    "indices.put_template",
    "indices.refresh",
    "indices.stats",
    "indices.update_aliases",
    "info",
    "ingest.get_pipeline",
    "ingest.put_pipeline",
    "mget",
    "msearch",
    "mtermvectors",
    "open_point_in_time",
    "ping",
    "put_script",
    "reindex",
    "scroll",
    "search",
    "search_shards",
    "tasks.cancel",
    "tasks.get",
    "tasks.list",
)
COMMON = {"error_trace", "filter_path", "human", "pretty"}  # parameters that every endpoint has


def requests_of(api: Path, wheel: Path) -> dict[str, dict[str, list[str]]]:
    """Return the parameters, and the keys of the body where they are known, by method and path."""
    bodies = body_keys(wheel)
    requests: dict[str, dict[str, list[str]]] = {}
    for name in ENDPOINTS:
        content = endpoint(api, name)
        accepted = {"parameters": sorted(COMMON | content.get("params", {}).keys())}
        if name in bodies:
            accepted["body"] = sorted(bodies[name])
        for url in content["url"]["paths"]:
            for method in url["methods"]:
                known = requests.setdefault(f"{method} {url['path']}", {})
                for part, names in accepted.items():
                    known[part] = sorted({*known.get(part, []), *names})
    return requests


def endpoint(api: Path, name: str) -> dict[str, Any]:
    if is_zipfile(api):
        with ZipFile(api) as jar:
            text = jar.read(f"rest-api-spec/api/{name}.json").decode()
    else:
        text = (api / f"{name}.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)[name]
    return content


def body_keys(wheel: Path) -> dict[str, list[str]]:
    """Return the keys of the bodies by the name of the endpoint, for bodies that are objects with fixed keys."""
    found: dict[str, list[str]] = {}
    with ZipFile(wheel) as package:
        for namespace in ("", "cluster", "indices", "ingest", "tasks"):
            module = f"elasticsearch/_sync/client/{namespace or '__init__'}.py"
            for node in ast.walk(ast.parse(package.read(module))):
                if isinstance(node, ast.FunctionDef) and (keys := _body_fields(node)):
                    found[f"{namespace}.{node.name}".lstrip(".")] = keys
    return found


def _body_fields(function: ast.FunctionDef) -> list[str]:
    """Return the keys that a method of the client sets in the body: `__body["query"] = query`."""
    return [
        str(node.slice.value)
        for node in ast.walk(function)
        if isinstance(node, ast.Subscript)
        and isinstance(node.value, ast.Name)
        and node.value.id == "__body"
        and isinstance(node.slice, ast.Constant)
    ]


def main() -> None:
    versions = sys.argv[1::3]
    sources = zip(map(Path, sys.argv[2::3]), map(Path, sys.argv[3::3]), strict=True)
    table = {version: requests_of(*each) for version, each in zip(versions, sources, strict=True)}
    # A line for each request, so that a change can be read.
    parts = [
        f'"{version}": {{\n'
        + ",\n".join(f"{json.dumps(request)}: {json.dumps(accepted)}" for request, accepted in sorted(each.items()))
        + "\n}"
        for version, each in table.items()
    ]
    OUTPUT.write_text("{\n" + ",\n".join(parts) + "\n}\n", encoding="utf-8")
    print(f"{OUTPUT.name}: {', '.join(f'{len(each)} requests of {version}' for version, each in table.items())}")


if __name__ == "__main__":
    main()
