"""Ports of this machine, on loopback only."""

from __future__ import annotations

import socket
from random import Random

HOST = "127.0.0.1"
TRANSPORT = 100  # the port on which nodes talk to each other is so much higher, as 9300 is of 9200
FREE = (10_000, 30_000)  # below those that are given to connections


def is_free(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # else one that was just closed counts as taken
        try:
            tried.bind((HOST, port))
        except OSError:
            return False
    return True


def ports_of(port: int, nodes: int) -> list[int]:
    """All ports that so many nodes take from this one on."""
    return [port + number + offset for offset in (0, TRANSPORT) for number in range(nodes)]


def free_port(nodes: int = 1) -> int:
    """One from which on so many nodes find theirs."""
    random = Random()
    while True:
        port = random.randint(*FREE)
        if all(map(is_free, ports_of(port, nodes))):
            return port
