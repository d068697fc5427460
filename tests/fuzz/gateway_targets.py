"""Whatever the gateway reads of requests before the engine has seen them. See core_targets.py.

Each has to refuse its input with an error of its own, or to agree with plain Python, written in another way.
"""

from __future__ import annotations

import gzip
import json
import re
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.gateway.filter_path import filtered
from opensearch_winnow.gateway.headers import (
    NOT_SENT,
    OF_A_BODY,
    changed_header,
    gateway_headers,
    passed_headers,
    warning,
)
from opensearch_winnow.gateway.memory_budget import MemoryBudget
from opensearch_winnow.gateway.missing_fields import MissingFields
from opensearch_winnow.gateway.request_body import UnreadError, unzipped
from opensearch_winnow.gateway.routes import Other, Search, Write, goes_up, route_of
from opensearch_winnow.gateway.searching.client_search import ClientSearch, NotJsonError, may_be_ours
from opensearch_winnow.gateway.searching.group_options import is_ours
from opensearch_winnow.gateway.searching.grouped_msearch import _searches
from opensearch_winnow.gateway.writing.bulk_body import bulk_body, bulk_items
from opensearch_winnow.ingest.own_index.bulk_action import MalformedBulkError
from tests.fuzz.input_reader import Reader
from tests.fuzz.targets import Target

Names = tuple[str, ...]  # of keys, from the outermost inwards

METHODS = ("GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH", "get")
MAX_WARNING_BYTES = 1_000
MAX_CPU_SECONDS = 1.0  # of an input of one kilobyte
CONTENT = {
    "took": 1,
    "hits": {"hits": [{"_id": "1", "_source": {"a.b": 1, "aab": [[{"c": 2}], 3]}}, {"_id": "2"}], "max": None},
    "ext": {"winnow": {"groups": {"value": 1}}, "": {"": 0}},
    "aaa": {"aaa": {"aaa": {"b": True}}},
}
DROPPED = object()  # what is left of a part that is left out
SMALL_CONTENT = json.dumps(CONTENT, separators=(",", ":")).encode()


def in_time(target: Target) -> Target:
    """Return a target that fails if an input takes long: one request must not stop the others."""

    def fuzz(data: bytes, compares: bool) -> None:
        start = time.process_time()
        target(data, compares)
        assert time.process_time() - start < MAX_CPU_SECONDS

    return fuzz


# --- bulk requests ----------------------------------------------------------------------------------------------------


def fuzz_bulk(data: bytes, _: bool) -> None:
    try:
        items = bulk_items(data)
    except MalformedBulkError:
        return
    assert bulk_body(items) == data_without_empty_lines(data)
    for item in items:
        assert equal_json(json.loads(item.action), {item.kind: item.options})
        assert (item.source is None) == (item.kind == "delete")
    changed = [item.with_id(f"ä{number}") for number, item in enumerate(items)]
    again = bulk_items(bulk_body(changed))
    assert [(each.kind, each.source, each.id) for each in again] == [
        (each.kind, each.source, f"ä{number}") for number, each in enumerate(items)
    ]
    for item, other in zip(items, again, strict=True):
        assert equal_json(other.options, item.options | {"_id": other.id})
        assert other.index == item.index
        assert other.option("routing") == item.option("routing")


def data_without_empty_lines(data: bytes) -> bytes:
    """Return a bulk body without the empty lines before operations, which mean nothing."""
    kept, rest = b"", data
    while rest.strip():
        line, _, rest = rest.partition(b"\n")
        if not line.strip():
            continue
        kept += line + b"\n"
        if next(iter(json.loads(line))) != "delete":
            line, _, rest = rest.partition(b"\n")
            kept += line + b"\n"
    return kept


def equal_json(one: Any, other: Any) -> bool:
    """Compare two values, NaN being equal to itself, and 1 not to true."""
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


# --- searches ---------------------------------------------------------------------------------------------------------


def fuzz_msearch(data: bytes, _: bool) -> None:
    ours = may_be_ours("msearch", data)
    try:
        searches = _searches(data)
    except NotJsonError:
        return
    lines = data.rstrip().split(b"\n") if data.strip() else []
    assert len(lines) in (2 * len(searches), 2 * len(searches) - 1)  # the last body may be empty
    for number, search in enumerate(searches):
        header, body = (*lines, b"")[2 * number : 2 * number + 2]
        assert search.lines.rstrip() == b"\n".join((header, body)).rstrip()
        assert equal_json(search.header, json.loads(header) if header.strip() else {})
        assert search.body.strip() == body.strip()
        ext = json.loads(body).get("ext") if body.strip() else None
        assert ours or not isinstance(ext, dict) or "winnow" not in ext or b'"winnow"' not in body


def fuzz_search(data: bytes, _: bool) -> None:
    reader = Reader(data)
    query = dict(parse_qsl(reader.take().decode("utf-8", "replace"), keep_blank_values=True))
    body = reader.rest()
    may_be_ours("search", body)
    try:
        request = ClientSearch.of("/articles/_search", query, body)
    except (QuestionError, NotJsonError):
        return
    if request is not None:
        assert request.address().startswith("/articles/_search")
        assert request.start >= 0
        assert request.size >= 0
        assert "ext" not in request.body or "winnow" not in request.body["ext"]
        assert not any(map(is_ours, request.parameters))


# --- filter_path ------------------------------------------------------------------------------------------------------


def fuzz_filter_path(data: bytes, compares: bool) -> None:
    paths = data.decode("utf-8", "replace")
    try:
        found = filtered(SMALL_CONTENT, paths)
    except QuestionError:  # too many steps
        return
    if compares:
        assert json.loads(found) == plainly_filtered(CONTENT, paths), paths


def plainly_filtered(content: Any, paths: str) -> Any:
    """Filter a content by the whole path of each of its parts."""
    written = [each.strip() for each in paths.split(",") if each.strip()]
    included = [names_of(each) for each in written if not each.startswith("-")]
    excluded = [names_of(each[1:]) for each in written if each.startswith("-")]
    kept = plainly_included(content, (), included) if included else content
    kept = plainly_without(kept, (), excluded) if excluded and kept is not DROPPED else kept
    return {} if kept is DROPPED else kept


def names_of(written: str) -> Names:
    names, name, escaped = [], "", False
    for character in written.removesuffix("."):
        if character == "." and not escaped:
            names.append(name)
            name = ""
        else:
            name = (name[:-1] if character == "." else name) + character
        escaped = character == "\\"
    return (*names, name)


def plainly_included(value: Any, at: Names, patterns: Sequence[Names]) -> Any:
    if any(leads_to(pattern, at) for pattern in patterns):
        return value
    return inside(value, at, lambda part, there: plainly_included(part, there, patterns), DROPPED)


def plainly_without(value: Any, at: Names, patterns: Sequence[Names]) -> Any:
    if any(leads_to(pattern, at) for pattern in patterns):
        return DROPPED
    if not any(leads_below(pattern, at) for pattern in patterns):
        return value
    return inside(value, at, lambda part, there: plainly_without(part, there, patterns), value)


def inside(value: Any, at: Names, left: Callable[[Any, Names], Any], otherwise: Any) -> Any:
    """Return what is left of the parts of a value, which may have none."""
    match value:
        case dict():
            some = {name: left(part, (*at, name)) for name, part in value.items()}
            return {name: part for name, part in some.items() if part is not DROPPED} or DROPPED
        case list():
            return [part for each in value if (part := left(each, at)) is not DROPPED] or DROPPED
    return otherwise


def leads_to(pattern: Names, at: Names) -> bool:
    """Whether a pattern leads to the part at a path. Row by row, so that it takes few steps."""
    reached = [True] + [False] * len(at)
    for name in pattern:
        if name == "**":
            first = reached.index(True) if True in reached else len(reached)
            reached = [number >= first for number in range(len(reached))]
        else:
            reached = [False] + [reached[number] and fits(name, each) for number, each in enumerate(at)]
    return reached[-1]


def leads_below(pattern: Names, at: Names) -> bool:
    """Whether a pattern may lead to a part inside the one at a path."""
    return any(leads_to(pattern[:end], at) for end in range(len(pattern) + 1))


def fits(pattern: str, name: str) -> bool:
    """Return whether a name fits a pattern, in which only * is special."""
    return fnmatchcase(name, pattern.replace("[", "[[]").replace("?", "[?]"))


# --- paths, headers and bodies ----------------------------------------------------------------------------------------

INDEX = r"(_all|[^_/][^/]*)"
WRITES = (
    (r"PUT|POST", r"_bulk", "bulk"),
    (r"PUT|POST", r"([^/]+)/_bulk", "bulk"),
    (r"POST", INDEX + r"/_doc", "index"),
    (r"PUT|POST", INDEX + r"/_doc/([^/]+)", "index"),
    (r"PUT|POST", INDEX + r"/_create/([^/]+)", "create"),
    (r"POST", INDEX + r"/_update/([^/]+)", "update"),
)


def fuzz_routes(data: bytes, _: bool) -> None:
    reader = Reader(data)
    method = METHODS[reader.byte() % len(METHODS)]
    path = "/" + bytes(byte & 127 for byte in reader.rest()).decode()
    route = route_of(method, path)
    plain = path.partition("?")[0]
    parts = [unquote(part) for part in plain.split("/") if part]
    decoded = plain
    while (further := unquote(decoded)) != decoded:
        decoded = further
    assert goes_up(path) == any(part.partition(";")[0] == ".." for part in re.split(r"[/\\]", decoded))
    assert route_of(method, f"{plain}?pretty=/_bulk") == route
    assert route_of(method, plain.replace("/", "//")) == route
    assert route_of(method, "".join(f"/{quote(part, safe='')}" for part in parts)) == route
    # Slashes inside a part would be separators in the expressions above.
    found = [
        Write(kind, *match.groups())  # type: ignore[arg-type]
        for methods, pattern, kind in WRITES
        if re.fullmatch(methods, method)
        and (match := re.fullmatch(pattern, "/".join(part.replace("/", "\0") for part in parts), re.DOTALL))
    ]
    if found:
        assert isinstance(route, Write)
        same, other = ([each and each.replace("\0", "/") for each in one] for one in (found[0], route))
        assert same == other
    else:
        assert isinstance(route, Search | Other)
    if isinstance(route, Search):
        assert method in ("GET", "POST")
        assert parts[-1] == f"_{route.kind}"
        assert route.name == (parts[0] if len(parts) == 2 else None)


def fuzz_headers(data: bytes, _: bool) -> None:
    lines = [line.partition(b":")[::2] for line in data.split(b"\n")]
    raw = [(name, value) for name, value in lines if name]
    listed = [each for name, value in raw if name.lower() == b"connection" for each in value.split(b",")]
    named = {lowered(each.strip(b" \t")) for each in listed}
    for without, headers in ((NOT_SENT, passed_headers(raw, NOT_SENT)), (NOT_SENT | OF_A_BODY, gateway_headers(raw))):
        dropped = {name.encode() for name in without} | named
        expected = [(name, value) for name, value in raw if lowered(name) not in dropped]
        passed = [(encoded(name), encoded(value)) for name, value in headers.items()]
        if without == NOT_SENT:
            assert passed == expected
        else:
            assert [each for each in passed if each[0] != b"accept"] == expected
            assert headers["accept"] == "application/json"
    missing = MissingFields()
    for name, value in raw:
        missing.add(name.decode("utf-8", "surrogateescape"), value.decode("utf-8", "surrogateescape"), len(value))
    said = warning(missing.sentence())
    assert re.fullmatch(r'299 winnow "[\x20-\x7e]*"', said)
    assert re.fullmatch(r'(?:[^"\\]|\\["\\])*', said[12:-1]), said
    assert len(said) <= MAX_WARNING_BYTES
    assert all(re.fullmatch(r"[\x20-\x7e]{0,300}", line) for line in missing.log_lines())
    if changed_header(raw) is None:
        assert not any((byte < 32 and byte != 9) or byte == 127 for _, value in raw for byte in value)


def lowered(name: bytes) -> bytes:
    return encoded(name.decode("utf-8", "surrogateescape").lower())


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")


def fuzz_gzip(data: bytes, _: bool) -> None:
    reader = Reader(data)
    max_bytes, budget = 1 << reader.byte() % 20, MemoryBudget(1 << 10 + reader.byte() % 12)
    body = reader.rest()
    found = None
    with budget.reservation() as memory:
        with suppress(UnreadError):
            found = unzipped(body, max_bytes, memory)
        assert budget.used <= budget.size
    assert budget.used == 0
    if found is not None:
        assert len(found) <= max_bytes
        with suppress(EOFError, zlib.error, gzip.BadGzipFile):
            assert gzip.decompress(body) == found


BULK = (
    b'{"index":{"_index":"articles","_id":"1","routing":7}}\n{"body":"a"}\n\n{"delete":{"_id":2}}\n'
    b'{"update":{"_id":"3","_retry_on_conflict":1}}\r\n{"doc":{"n":1.0}}\r\n{"create":{}}\n{}\n'
)
MSEARCH = b'{"index":["a","b"]}\n{"query":{"match_all":{}},"ext":{"winnow":{"group":true}}}\n{}\n{}\n\n'
SEARCHES = (
    (b"winnow=group&size=3&filter_path=hits", b'{"query":{"match":{"a":"b"}},"from":1,"sort":[{"n":"asc"}]}'),
    (
        b"winnow=group&winnow_min_resemblance=.5&docvalue_fields=a,b&sort=a:asc&track_total_hits=12",
        b'{"_source":["a"]}',
    ),
    (b"q=a&df=b&_source_excludes=c&rest_total_hits_as_int&version=", b'{"ext":{"winnow":{"group":true,"members":2}}}'),
    (b"winnow=group&docvalue_fields=a&track_total_hits=" + b"9" * 60, b'{"docvalue_fields":{"a":[[[1]]]}}'),
    (b"winnow=group&stored_fields=_none_", b'{"docvalue_fields":["n"],"pit":{"id":"x"},"track_total_hits":3}'),
)

SEEDS: Mapping[Target, list[bytes]] = {
    fuzz_bulk: [BULK],
    fuzz_msearch: [MSEARCH],
    fuzz_search: [bytes([len(query)]) + query + body for query, body in SEARCHES],
    fuzz_filter_path: [
        *(b"hits.hits._id,took", b"**.a*b.c,-**.value,aaa.*", b"hits.hits._source.a\\.b,-ext"),
        *(b"**.**.nothing", b"*a*a*b"),
    ],
    fuzz_routes: [
        *(b"\x01articles/_doc/a%2Fb?refresh", b"\x02_bulk", b"\x00a,b*/_msearch", b"\x01_all/_update/1"),
        *(b"\x03a/_doc/1", b"\x00a/%252e%2e;x/..%5c%2F.."),
    ],
    fuzz_headers: [
        b"Authorization: Basic x\nConnection: close, X-a\nX-a: b\nx-proxy-user: m\xfcller",
        b'"\\\x1b[31m\xc3\xa4',
    ],
    fuzz_gzip: [b"\x0a\x0b" + gzip.compress(b"{}\n", mtime=0) * 2],
}
TARGETS = {target.__name__.removeprefix("fuzz_"): (in_time(target), seeds) for target, seeds in SEEDS.items()}
