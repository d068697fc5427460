"""Finds free ports on this machine, for connections from this machine only."""

from __future__ import annotations

import socket
from random import Random

HOST = "127.0.0.1"
TRANSPORT_OFFSET = 100  # nodes talk to each other on a port that is higher by this: 9300 for 9200
PORT_RANGE = (10_000, 30_000)  # below the ports that the system gives to outgoing connections


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # otherwise a port just closed counts as taken
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
    return True


def ports_of(port: int, nodes: int) -> list[int]:
    """Return all ports that an engine of `nodes` nodes uses, if the first node is at `port`."""
    return [port + number + offset for offset in (0, TRANSPORT_OFFSET) for number in range(nodes)]


def free_port(nodes: int = 1) -> int:
    """Return a port for the first node such that the ports of all `nodes` nodes are free."""
    random = Random()
    while True:
        port = random.randint(*PORT_RANGE)
        if all(map(is_free, ports_of(port, nodes))):
            return port
