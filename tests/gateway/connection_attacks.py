"""Attacks by connections: clients that are slow, do not read, or do not quite speak HTTP."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import random

from tests.gateway.attacker import ANSWER_SECONDS, Attacker, Begin, Round, all_of, briefly
from tests.gateway.body_attacks import MB, repeated

REOPEN_SECONDS = 1.0


async def held(attacker: Attacker, beginning: bytes, drip: bytes = b"") -> None:
    """Open a connection, send the beginning of something, and nothing or one byte a second after it."""
    try:
        reader, writer = await attacker.open()
        try:
            writer.write(beginning)
            while not reader.at_eof() and not writer.is_closing():
                try:
                    async with asyncio.timeout(REOPEN_SECONDS):
                        await reader.read(1 << 16)
                except TimeoutError:
                    writer.write(drip)
                    await writer.drain()
            attacker.answers["closed"] += 1
        finally:
            writer.close()
    except OSError as error:
        attacker.answers[type(error).__name__] += 1
    await asyncio.sleep(REOPEN_SECONDS)


async def opened(
    attacker: Attacker, use: Callable[[asyncio.StreamWriter], Awaitable[object]], *, reads: bool = False
) -> None:
    """Open a connection and use it, without reading what comes back."""
    try:
        _, writer = await attacker.open()
        if not reads:
            writer.transport.pause_reading()  # type: ignore[attr-defined]
        await use(writer)
    except (OSError, TimeoutError) as error:
        attacker.answers[type(error).__name__] += 1
        await asyncio.sleep(REOPEN_SECONDS)


def half_sent_heads(drip: bytes = b"") -> Begin:
    return lambda _: lambda each: held(each, b"POST /_bulk HTTP/1.1\r\nHost: x\r\nX-", drip)


def slow_bodies(path: str, method: str = "POST") -> Begin:
    head = f"{method} {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"
    sent = f"{head}Content-Length: 50000000\r\n\r\n{{"
    return lambda _: lambda each: held(each, sent.replace("INDEX", each.index).encode(), b" ")


def large_unfinished_bodies(attacker: Attacker) -> Round:
    head = f"POST /{attacker.index}/_bulk HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\n"
    body = repeated(b'{"index":{}}\n{"body":"a"}\n', attacker.size(40 * MB))
    whole = f"{head}Content-Length: {len(body) + 1}\r\n\r\n".encode() + body
    return lambda each: held(each, whole)


def unread_answers(path: str, body: bytes = b"") -> Begin:
    head = f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"

    async def one(each: Attacker) -> None:
        async def use(writer: asyncio.StreamWriter) -> None:
            writer.write(head.replace("INDEX", each.index).encode() + body)
            await asyncio.sleep(ANSWER_SECONDS)
            writer.close()

        await opened(each, use)

    return lambda _: one


def leaving(attacker: Attacker) -> Round:
    """Leave when the answer is about to be sent, or before."""
    path = f"/{attacker.index}/_search?winnow=group"

    async def use(writer: asyncio.StreamWriter) -> None:
        writer.write(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{{}}".encode())
        await asyncio.sleep(random() * 0.1)
        writer.transport.abort()

    return lambda each: opened(each, use, reads=True)


def pipelining(_: Attacker) -> Round:
    async def use(writer: asyncio.StreamWriter) -> None:
        async with asyncio.timeout(ANSWER_SECONDS):
            while True:
                writer.write(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 1_000)
                await writer.drain()

    return lambda each: opened(each, use)


# --- what is not quite HTTP -------------------------------------------------------------------------------------------


def odd_headers(attacker: Attacker) -> Round:
    many = "".join(f"X-{number}: y\r\n" for number in range(attacker.size(5_000)))
    long = f"X-Long: {'y' * attacker.size(2 * MB)}\r\n"
    odd = "x-proxy-user: m\xfcller\r\nX-\xe4: \xff\xfe\r\n"
    control = "X-A: a\x01\x1b[31mb\r\n"

    async def one(each: Attacker) -> None:
        for headers in (many, long, odd, control):
            await each.ask("POST", f"/{each.index}/_search?winnow=group", b"{}", headers=headers)
            await each.ask("GET", "/", headers=headers)

    return one


ODD_REQUESTS = (
    b"CONNECT /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab",
    b"CONNECT example.com:443 HTTP/1.1\r\nHost: x\r\n\r\n",
    b"TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /x\r\n\r\n",
    b"GET /x HTTP/0.9\r\n\r\n",
    b"GET /x HTTP/2.0\r\nHost: x\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"POST /x/_doc HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"POST /x/_doc HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    b"POST /x/_doc HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /x/_doc HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n{}",
    b"POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /y HTTP/1.1\n",
    b"POST /x/_doc HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
    b"POST /x/_doc HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    b"POST /x/_doc HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"GET /a\x00b HTTP/1.1\r\nHost: x\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200),
)


def odd_http(_: Attacker) -> Round:
    return lambda each: all_of(*(briefly(each.send(raw)) for raw in ODD_REQUESTS))


DOTS = (
    *("/../admin/secret", "/%2e%2e/admin", "/a/../../admin", "/.%2E/admin", "/a/%2e%2e/%2e%2e/admin"),
    *("/..%2fadmin", "/..;/admin", "/%252e%252e/admin", "//../admin", "/../../es/admin", "/..\\admin"),
)


def dots(_: Attacker) -> Round:
    async def one(each: Attacker) -> None:
        for path in DOTS:
            await briefly(each.ask("GET", path))
            await briefly(each.ask("PUT", f"{path}/_doc/1", b"{}"))

    return one
