"""Reads the `_search` request of a client: its body, and the parameters of its address that belong in the body."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, Self
from urllib.parse import urlencode

import msgspec

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.limits import MAX_FILTER_PATH
from opensearch_winnow.gateway.searching.group_options import PARAMETER, GroupOptions, is_ours
from opensearch_winnow.queries.searching.search_groups import REFUSED_OPTIONS

DEFAULT_SIZE = 10  # groups, as engines have it for hits
# Keys and parameters of searches that cannot be grouped, with the reason and the remedy.
REFUSED = {
    **{name: reason for name, reason in REFUSED_OPTIONS.items() if name not in ("from", "size", "pit", "search_after")},
    "knn": "engines find neighbours beside the query; put a knn query into the query",
    "rank": "engines rank the first hits only; remove it",
    "retriever": "engines retrieve the first hits only; use a query",
    "scroll": "page by from and size, at a point in time if need be; remove it",
    "search_after": "page by from and size, which count groups; remove it",
    "sub_searches": "engines rank the first hits only; use one query",
    **dict.fromkeys(
        ("suggest_field", "suggest_mode", "suggest_size", "suggest_text"), "search for suggestions separately"
    ),
}
# Query parameters in an address, with the options of the `query_string` query that they set. Without `q`, engines
# refuse them.
QUERY_STRING = {
    "q": "query",
    "df": "default_field",
    "analyzer": "analyzer",
    "analyze_wildcard": "analyze_wildcard",
    "default_operator": "default_operator",
    "lenient": "lenient",
}
# Boolean options of the body, and the meaning of an empty value in the address; None: as if it were absent.
SWITCHES = {
    "explain": None,
    "version": None,
    "seq_no_primary_term": None,
    "track_scores": True,
    "include_named_queries_score": True,
}
SOURCE = ("_source", "_source_includes", "_source_excludes")
SWITCH_VALUES = {"true": True, "false": False}
# Nested objects and lists. The functions that read a search are recursive, and Python allows about 1,000 levels.
# Engines allow 20 nested queries.
MAX_DEPTH = 300
MAX_DIGITS = 19  # of a number, as engines have it


class NotJsonError(Exception):
    """A body that is not a JSON object: the engine reports the error."""


@dataclass(frozen=True, slots=True)
class ClientSearch:
    """A client's search: its path, its parameters and its body."""

    path: str  # percent-encoded: /articles/_search, or /_search
    parameters: dict[str, str]  # of the address, for every request to the engine
    body: dict[str, Any]  # without `from`, `size` and `ext.winnow`
    start: int  # the number of groups before the page
    size: int
    options: GroupOptions
    as_int: bool  # totals are numbers, as in old engines
    pretty: bool
    filter_path: str  # which parts of the answer the client wants; empty: all

    @classmethod
    def of(cls, path: str, query: Mapping[str, str], body: bytes) -> Self | None:
        """Read a request; return None if it is not to be grouped. Raises a QuestionError if it cannot be grouped."""
        rest = dict(query)
        search = search_body(body or rest.pop("source", "").encode())
        rest.pop("source_content_type", None)
        options = GroupOptions.of(query, search)
        if options is None:
            return None
        for name, reason in REFUSED.items():
            if name in search or name in rest:
                raise QuestionError(f"a search with {name} cannot be grouped: {reason}")
        if rest.pop("format", "json") != "json":
            raise QuestionError("a grouped search answers in JSON: remove format")
        search = without_ours(search)
        pretty = rest.pop("pretty", "false") in ("", "true")
        filter_path = checked_filter_path(rest.pop("filter_path", ""))
        as_int = rest.pop("rest_total_hits_as_int", "false") in ("", "true")
        rest = {name: value for name, value in rest.items() if not is_ours(name)}
        _move_into_body(rest, search)
        if search.get("stored_fields") in ("_none_", ["_none_"]):
            raise QuestionError("a search without ids cannot be grouped: remove stored_fields, _source=false is enough")
        start = _count(rest.pop("from", search.pop("from", 0)), "from")
        size = _count(rest.pop("size", search.pop("size", DEFAULT_SIZE)), "size")
        if as_int:
            _check_exact_total(search)
        if "pit" not in search:
            # All pages of a search are read from the same copies of the shards, whose deleted documents affect scores.
            rest.setdefault("preference", _stable_preference(path, search))
        return cls(path, rest, search, start, size, options, as_int, pretty, filter_path)

    def address(self) -> str:
        return f"{self.path}?{urlencode(self.parameters)}" if self.parameters else self.path


def search_body(body: bytes) -> dict[str, Any]:
    """Read the body of a search."""
    try:
        search = msgspec.json.decode(body, type=dict[str, Any]) if body.strip() else {}
    except (ValueError, RecursionError) as error:
        raise NotJsonError from error
    if _is_deeper(search, MAX_DEPTH):
        raise NotJsonError
    return search


def is_long(value: str) -> bool:
    """Return whether a text is an unsigned number that engines can read. Python reads at most 4,300 digits."""
    return value.isdecimal() and len(value) <= MAX_DIGITS


def _is_deeper(value: Any, most: int) -> bool:
    """Return whether lists and objects in a value are nested more than `most` deep."""
    level = [value]
    for _ in range(most):
        level = [
            inner
            for each in level
            for inner in (each.values() if isinstance(each, dict) else each)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def checked_filter_path(written: str) -> str:
    """Return `written`; raise a QuestionError if it is too long to be applied."""
    if len(written) > MAX_FILTER_PATH:
        raise QuestionError(f"filter_path has {len(written):,} characters; a grouped search takes {MAX_FILTER_PATH:,}")
    return written


def may_be_ours(kind: Literal["search", "msearch"], body: bytes) -> bool:
    """Return whether the body may contain `ext.winnow`. Invalid JSON counts as yes; a query for "winnow" does not."""
    if b'"winnow"' not in body:
        return False
    try:
        bodies = map(search_body, [body] if kind == "search" else body.split(b"\n"))
        return any(isinstance(each.get("ext"), Mapping) and PARAMETER in each["ext"] for each in bodies)
    except NotJsonError:
        return True


def without_ours(body: Mapping[str, Any]) -> dict[str, Any]:
    """Return the body of a search without `ext.winnow`."""
    ext = body.get("ext")
    if not isinstance(ext, Mapping):
        return dict(body)
    others = {name: value for name, value in ext.items() if name != PARAMETER}
    return {name: value for name, value in body.items() if name != "ext"} | ({"ext": others} if others else {})


def _move_into_body(rest: dict[str, str], search: dict[str, Any]) -> None:
    """Move the parameters that not all requests to the engine share from the address into the body.

    Invalid values stay where they are, so that the engine reports them.
    """
    if "q" in rest:
        search["query"] = {
            "query_string": {QUERY_STRING[name]: rest.pop(name) for name in QUERY_STRING if name in rest}
        }
    for name, empty in SWITCHES.items():
        if rest.get(name) in ("", *SWITCH_VALUES):
            search[name] = SWITCH_VALUES.get(rest.pop(name), empty)
            if search[name] is None:
                del search[name]
    if "track_total_hits" in rest:
        value = rest["track_total_hits"]
        if value in SWITCH_VALUES or is_long(value):
            del rest["track_total_hits"]
            search["track_total_hits"] = SWITCH_VALUES[value] if value in SWITCH_VALUES else int(value)
    if "stored_fields" in rest:
        search["stored_fields"] = rest.pop("stored_fields").split(",")
    if "docvalue_fields" in rest:
        search["docvalue_fields"] = [*_listed(search, "docvalue_fields"), *rest.pop("docvalue_fields").split(",")]
    if "sort" in rest:
        search["sort"] = [*_listed(search, "sort"), *map(_order, rest.pop("sort").split(","))]
    if any(name in rest for name in SOURCE):
        search["_source"] = _source(*(rest.pop(name, None) for name in SOURCE))


def _listed(search: Mapping[str, Any], name: str) -> list[Any]:
    given = search.get(name) or []
    return given if isinstance(given, list) else [given]


def _order(written: str) -> Any:
    field, separator, order = written.rpartition(":")
    return {field: order} if separator else written


def _source(fields: str | None, includes: str | None, excludes: str | None) -> Any:
    if fields == "false":
        return False
    named = includes if includes is not None else None if fields in ("true", "") else fields
    if named is None and excludes is None:
        return True
    return {
        name: value.split(",") for name, value in (("includes", named), ("excludes", excludes)) if value is not None
    }


def _count(value: Any, name: str) -> int:
    """Read `from` or `size`. Engines cut decimals off, and some read numbers from strings."""
    try:
        number = int(float(value)) if not isinstance(value, bool) else -1
    except (TypeError, ValueError, OverflowError):
        number = -1
    if number < 0:
        raise QuestionError(f"{name} is a number of groups, not {value!r}")
    return number


def _check_exact_total(search: dict[str, Any]) -> None:
    tracked = search.setdefault("track_total_hits", True)
    if not isinstance(tracked, bool):
        raise QuestionError(
            f"rest_total_hits_as_int needs an exact total, or none: track_total_hits is true or false, not {tracked}"
        )


def _stable_preference(path: str, search: Mapping[str, Any]) -> str:
    found_by = msgspec.json.encode([path, search.get("query"), search.get("sort")])
    return f"winnow-{blake2b(found_by, digest_size=6).hexdigest()}"
