"""Runs a gateway in a thread of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from aiohttp import web

from opensearch_winnow.gateway.cluster import Cluster
from opensearch_winnow.gateway.proxy import Proxy
from opensearch_winnow.stores.opensearch.client import Address


@contextmanager
def gateway_to(engine: str) -> Iterator[str]:
    """Run a gateway in front of an engine, and yield its address."""
    loop, ready, stop = asyncio.new_event_loop(), Event(), asyncio.Event()
    addresses: list[str] = []

    async def serve() -> None:
        async with Cluster(Address.of(f"{engine}/any")) as cluster:
            runner = web.ServerRunner(web.Server(Proxy(cluster).handle, auto_decompress=False, access_log=None))
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            addresses.append(f"http://127.0.0.1:{runner.addresses[0][1]}")
            ready.set()
            await stop.wait()
            await runner.cleanup()

    thread = Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    try:
        assert ready.wait(30)
        yield addresses[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
