"""Attacks by what a request says: bodies that grow, names without end, costly patterns."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable

from tests.gateway.attacker import Attacker, Begin, Round, all_of

MB = 1_000_000


def repeated(line: bytes, size: int) -> bytes:
    return line * (size // len(line))


def sending(path: str, made: Callable[[Attacker], bytes], *, packed: bool = False) -> Begin:
    """Send a body that is made once, before the attack."""

    def begin(attacker: Attacker) -> Round:
        body = gzip.compress(made(attacker), 9, mtime=0) if packed else made(attacker)
        return lambda each: each.ask("POST", path.replace("INDEX", each.index), body)

    return begin


def body_attack(path: str, line: bytes, size: int, packed: bool, end: bytes = b"") -> Begin:
    *start, repeats = line.split(b"|")
    return sending(path, lambda each: b"".join(start) + repeated(repeats, each.size(size)) + end, packed=packed)


def bulk_of_names(name: bytes, count: int) -> Callable[[Attacker], bytes]:
    lines = b'{"index":{"_index":"' + name + b'"}}\n{}\n'
    return lambda each: b"".join(lines % number for number in range(each.size(count)))


def names_in_path(count: int) -> Begin:
    def begin(attacker: Attacker) -> Round:
        names = ",".join(f"n{number}" for number in range(attacker.size(count)))
        return lambda each: each.ask("POST", f"/{names}/_search?winnow=group", b"{}")

    return begin


def names_in_msearch(count: int) -> Begin:
    def made(attacker: Attacker) -> bytes:
        names = [f"n{number}" for number in range(attacker.size(count) // 20)]
        return (json.dumps({"index": names}).encode() + b"\n{}\n") * 20

    return sending("/_msearch?winnow=group", made)


ODD_SEARCHES = (
    ("&docvalue_fields=a", b'{"docvalue_fields":1}'),
    ("&track_total_hits=" + "9" * 5_000, b"{}"),
    ("&from=1e308&size=1e308", b"{}"),
    ("&winnow_examine=" + "9" * 5_000, b"{}"),
    ("&pretty=" + "%00" * 1_000, b'{"ext":{"winnow":[]}}'),
    ("&sort=" + "," * 5_000, b'{"sort":{"a":{"b":1}},"_source":{"includes":1},"stored_fields":{"a":1}}'),
)


def odd_searches(_: Attacker) -> Round:
    """Searches that no client sends. An error of the gateway itself would be a line in its log for each."""

    async def one(each: Attacker) -> None:
        for options, body in ODD_SEARCHES:
            await each.ask("POST", f"/{each.index}/_search?winnow=group{options}", body)
            await each.ask("POST", f"/{each.index}/_msearch?winnow=group{options}", b"{}\n" + body + b"\n")
        await each.ask("POST", "/_msearch?winnow=group&max_concurrent_searches=" + "9" * 5_000, b"{}\n{}\n")
        bulk = b'{"index":{"_id":"odd","version":"%s","version_type":"external"}}\n{"body":"a"}\n' % (b"9" * 5_000)
        await each.ask("POST", f"/{each.index}/_bulk", bulk)

    return one


def gzip_members(attacker: Attacker) -> Round:
    body = gzip.compress(b"", mtime=0) * attacker.size(100_000)
    paths = ("/_bulk", "/_msearch?winnow=group", f"/{attacker.index}/_search?winnow=group")
    return lambda each: all_of(*(each.ask("POST", path, body) for path in paths))


def deep_json(attacker: Attacker) -> Round:
    size = attacker.size(100_000)
    deep = b'{"a":' * size + b"1" + b"}" * size
    wide = b"[" * size + b"]" * size

    async def one(each: Attacker) -> None:
        await each.ask("PUT", f"/{each.index}/_doc/deep", deep)
        await each.ask("POST", f"/{each.index}/_update/deep", b'{"doc":' + deep + b"}")
        await each.ask("POST", "/_bulk", b'{"index":' + deep + b"}\n{}\n")
        await each.ask("POST", f"/{each.index}/_bulk", b'{"index":{}}\n{"body":' + wide + b"}\n")
        await each.ask("POST", f"/{each.index}/_search?winnow=group", b'{"query":' + deep + b"}")
        await each.ask("POST", "/_msearch?winnow=group", b'{"index":' + wide + b"}\n" + deep + b"\n")
        for depth in (200, 400, 600, 900):  # what a decoder just takes may be too deep for others
            query = b'{"query":' + b'{"a":' * depth + b"1" + b"}" * depth + b"}"
            await each.ask("POST", f"/{each.index}/_search?winnow=group", query)
            await each.ask("POST", f"/{each.index}/_update/deep", b'{"doc":' + query + b"}")

    return one


def filter_attack(pattern: str) -> Begin:
    path = f"_search?winnow=group&size=20&filter_path={pattern}"
    return lambda _: lambda each: each.ask("GET", f"/{each.index}/{path}")


def hostile_names(attacker: Attacker) -> Round:
    names = [
        "_\u001b[31m\u001b]0;pwned\u0007EVIL\nwinnow: everything is fine\r\u001b[2J",
        "n" * attacker.size(200_000),
        "_" * attacker.size(200_000),
        "\u202eab\u2028cd\x85ef\x00",
        "ä" * attacker.size(100_000),
    ]

    async def one(each: Attacker) -> None:
        for name in names:
            await each.ask("POST", "/_bulk", json.dumps({"index": {"_index": name}}).encode() + b"\n{}\n")

    return one
