"""Classifies requests by method and path."""

from __future__ import annotations

import re
from typing import Literal, NamedTuple
from urllib.parse import unquote

# Requests, often POSTs, that neither write documents nor change an index, mapping, alias or setting.
HARMLESS = frozenset(
    [
        "_analyze",
        "_count",
        "_delete_by_query",
        "_explain",
        "_field_caps",
        "_flush",
        "_forcemerge",
        "_mget",
        "_msearch",
        "_mtermvectors",
        "_pit",
        "_refresh",
        "_search",
        "_termvectors",
        "_update_by_query",
        "_validate",
    ]
)
# A `..` as a part of a path. Each character may be percent-encoded, also several times: some servers decode twice.
TWO_DOTS = re.compile(
    r"(?:^|[/\\]|%(?:25)*(?:2f|5c)) (?:\.|%(?:25)*2e){2} (?=$|[/\\;]|%(?:25)*(?:2f|5c|3b))",
    re.IGNORECASE | re.VERBOSE,
)


class Write(NamedTuple):
    """A request that writes documents."""

    kind: Literal["bulk", "index", "create", "update"]
    name: str | None = None  # of an index, alias or data stream
    id: str | None = None


class Search(NamedTuple):
    """A request that searches."""

    kind: Literal["search", "msearch"]
    name: str | None = None  # of an index, alias or data stream


class Other(NamedTuple):
    """Any other request."""

    changes_indices: bool  # if it may, look-ups are forgotten


def route_of(method: str, raw_path: str) -> Write | Search | Other:
    """Classify a request. `raw_path` is percent-encoded, as the client sent it, with or without a query."""
    parts = [unquote(part) for part in raw_path.partition("?")[0].split("/") if part]
    match method, parts:
        case "PUT" | "POST", ["_bulk"]:
            return Write("bulk")
        case "PUT" | "POST", [index, "_bulk"]:
            return Write("bulk", index)
        case "POST", [index, "_doc"] if _is_name(index):
            return Write("index", index)
        case "PUT" | "POST", [index, "_doc", id_] if _is_name(index):
            return Write("index", index, id_)
        case "PUT" | "POST", [index, "_create", id_] if _is_name(index):
            return Write("create", index, id_)
        case "POST", [index, "_update", id_] if _is_name(index):
            return Write("update", index, id_)
        case "GET" | "POST", ["_search" | "_msearch" as kind]:
            return Search("search" if kind == "_search" else "msearch")
        case "GET" | "POST", [index, "_search" | "_msearch" as kind] if _is_name(index):
            return Search("search" if kind == "_search" else "msearch", index)
        case "GET" | "HEAD" | "OPTIONS", _:
            return Other(changes_indices=False)
        case "DELETE", [_, "_doc", _]:
            return Other(changes_indices=False)
    return Other(changes_indices=not HARMLESS.intersection(parts))


def goes_up(raw_path: str) -> bool:
    """Return whether a path has a `..`, in any form that a server may understand: %2e%2e, `..%2f`, `..\\`, `..;`."""
    return TWO_DOTS.search(raw_path.partition("?")[0]) is not None


def _is_name(part: str) -> bool:
    return not part.startswith("_") or part == "_all"
