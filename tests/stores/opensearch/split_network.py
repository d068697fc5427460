"""A network between the nodes of an engine that can be split: what one side sends does not reach the other."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Callable, Collection
from contextlib import AsyncExitStack, closing, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any, Self

import psutil

from opensearch_winnow.stores.engine.ports import HOST, TRANSPORT_OFFSET
from opensearch_winnow.stores.engine.running import EngineNode, Running


class SplitNetwork:
    """A proxy before each node, through which the other nodes reach it, as a context manager.

    Nothing is reset while the network is split: it is silent, as a network is that loses all packets.
    """

    def __init__(self, engine: Running) -> None:
        self._nodes = {node.name: node for node in engine.nodes}
        self._ports: dict[str, int] = {}
        self._cut_off: Collection[str] = ()
        self._loop: asyncio.AbstractEventLoop
        self._whole: asyncio.Event
        self._over: asyncio.Event
        self._listening = Event()
        self._thread = Thread(target=lambda: asyncio.run(self._run()))

    def __enter__(self) -> Self:
        self._thread.start()
        self._listening.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    def lead_through(self, revive: Callable[[], Running]) -> Running:
        """Start one node after the other again, so that it publishes its proxy's port. Return the running engine."""
        seeds = ",".join(f"{HOST}:{port}" for port in self._ports.values())
        for name, port in self._ports.items():
            node = self._nodes[name]
            plan = json.loads(Path(node.plan).read_text())
            plan["settings"] |= {"transport.publish_port": str(port), "discovery.seed_hosts": seeds}
            Path(node.plan).write_text(json.dumps(plan))
            os.kill(node.pid, signal.SIGKILL)
            while node.process:
                time.sleep(0.1)
            self._nodes = {each.name: each for each in revive().nodes}
        return revive()

    def split(self, cut_off: Collection[str]) -> None:
        self._cut_off = cut_off
        self._loop.call_soon_threadsafe(self._whole.clear)

    def heal(self) -> None:
        """Deliver what was held back, and all that follows."""
        self._loop.call_soon_threadsafe(self._whole.set)

    async def _run(self) -> None:
        self._loop, self._whole, self._over = asyncio.get_running_loop(), asyncio.Event(), asyncio.Event()
        self._whole.set()
        async with AsyncExitStack() as servers:
            for node in self._nodes.values():
                server = await servers.enter_async_context(await asyncio.start_server(self._connector(node), HOST, 0))
                self._ports[node.name] = server.sockets[0].getsockname()[1]
            self._listening.set()
            await self._over.wait()

    def _connector(self, target: EngineNode) -> Callable[..., Any]:
        async def connect(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            source = self._owner(writer.get_extra_info("peername")[1])
            with closing(writer), suppress(OSError, asyncio.CancelledError):
                await self._passable(source, target.name)
                there, back = await asyncio.open_connection(HOST, target.port + TRANSPORT_OFFSET)
                with closing(back):
                    await asyncio.gather(
                        self._pass_on(reader, back, source, target.name),
                        self._pass_on(there, writer, source, target.name),
                    )

        return connect

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, source: str, target: str
    ) -> None:
        with suppress(OSError):
            while data := await reader.read(1 << 16):
                await self._passable(source, target)
                writer.write(data)
                await writer.drain()
        writer.close()

    async def _passable(self, source: str, target: str) -> None:
        while not self._whole.is_set() and (source in self._cut_off) != (target in self._cut_off):
            await self._whole.wait()

    def _owner(self, port: int) -> str:
        """Return which node has a connection from a port."""
        for node in self._nodes.values():
            with suppress(psutil.Error):
                if any(each.laddr.port == port for each in psutil.Process(node.pid).net_connections("tcp4")):
                    return node.name
        return ""  # it has closed it already
