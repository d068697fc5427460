"""A line between the gateway and the engine that breaks, waits or speaks nonsense, as a test tells it to."""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Lock, Thread
from typing import Self
from urllib.parse import urlsplit

CHUNK_BYTES = 1 << 16


@dataclass(frozen=True, slots=True)
class Fault:
    """What happens to connections, until another fault is chosen."""

    request: bytes = b""  # it happens from the first request on that has these bytes in its head
    request_bytes: int | None = None  # after these many bytes of a request the line breaks
    answer_bytes: int | None = None  # after these many bytes of an answer the line breaks
    reset: bool = False  # it breaks with a reset, not in order
    wait_seconds: float = 0.0  # before the first byte of an answer
    nonsense: bytes = b""  # instead of an answer


NONE = Fault()


class BrokenLine:
    """The line, as a context manager. `with line.fault(…)` spoils it."""

    def __init__(self, engine: str) -> None:
        address = urlsplit(engine)
        self._engine = (address.hostname, address.port)
        self._server = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.url = f"http://127.0.0.1:{self._server.getsockname()[1]}"
        self._fault = NONE
        self._open: set[socket.socket] = set()
        self._lock = Lock()
        self.abandoned = Event()  # set when the gateway closes a connection that waits for an answer

    @contextmanager
    def fault(self, fault: Fault) -> Iterator[None]:
        """Spoil all connections; those that are open break first, so that none stays as it was."""
        self._fault = fault
        self.abandoned.clear()
        self._break_all()
        try:
            yield
        finally:
            self._fault = NONE
            self._break_all()

    def _serve(self) -> None:
        with suppress(OSError):  # closed
            while True:
                ours, _ = self._server.accept()
                Thread(target=self._connect, args=(ours,), daemon=True).start()

    def _connect(self, ours: socket.socket) -> None:
        fault = self._fault
        try:
            theirs = socket.create_connection(self._engine)
        except OSError:
            ours.close()
            return
        with self._lock:
            self._open |= {ours, theirs}
        begun = Event()
        Thread(target=self._pass_answers, args=(theirs, ours, fault, begun), daemon=True).start()
        passed = 0
        with suppress(OSError):
            while data := ours.recv(CHUNK_BYTES):
                if not begun.is_set() and fault.request not in data:
                    theirs.sendall(data)
                    continue
                begun.set()
                if fault.nonsense:
                    ours.sendall(fault.nonsense)
                    break
                if fault.request_bytes is not None and passed + len(data) > fault.request_bytes:
                    theirs.sendall(data[: fault.request_bytes - passed])
                    break
                passed += len(data)
                theirs.sendall(data)
            else:
                self.abandoned.set()
        self._close(ours, theirs, reset=fault.reset)

    def _pass_answers(self, theirs: socket.socket, ours: socket.socket, fault: Fault, begun: Event) -> None:
        passed = 0
        with suppress(OSError):
            while data := theirs.recv(CHUNK_BYTES):
                if not begun.is_set():
                    ours.sendall(data)
                    continue
                if fault.wait_seconds:
                    time.sleep(fault.wait_seconds)
                if fault.answer_bytes is not None and passed + len(data) > fault.answer_bytes:
                    ours.sendall(data[: fault.answer_bytes - passed])
                    break
                passed += len(data)
                ours.sendall(data)
        self._close(ours, theirs, reset=fault.reset)

    def _close(self, *sockets: socket.socket, reset: bool) -> None:
        with self._lock:
            for each in sockets:
                self._open.discard(each)
                with suppress(OSError):
                    if reset:
                        each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                    # The other thread may be reading, and a socket that is being read does not close.
                    each.shutdown(socket.SHUT_RD if reset else socket.SHUT_RDWR)
                each.close()

    def _break_all(self) -> None:
        self._close(*list(self._open), reset=False)

    def __enter__(self) -> Self:
        Thread(target=self._serve, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        self._server.close()
        self._break_all()
