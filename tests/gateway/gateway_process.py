"""Starts `winnow gateway` as a process of its own, as its users do, so that tests can kill it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryFile
from typing import Self

import psutil

from opensearch_winnow.stores.engine.ports import free_port
from tests.gateway.raw_requests import ask

WINNOW = Path(sys.executable).with_name("winnow")
START_SECONDS = 60.0


class GatewayProcess:
    """A gateway in front of an engine, as a context manager. After `kill`, `start` starts it on the same port.

    `max_files` limits its descriptors, `max_bytes` its memory, and `tree` is another checkout whose gateway is to run.
    """

    def __init__(
        self,
        engine: str,
        *options: str,
        port: int | None = None,
        max_files: int | None = None,
        max_bytes: int | None = None,
        tree: Path | None = None,
    ) -> None:
        self.port = port or free_port()
        self.engine = engine
        self.url = f"http://127.0.0.1:{self.port}"
        self.command = [str(WINNOW), "gateway", "--to", engine, "--port", str(self.port), *options]
        limits = {"n": max_files, "v": max_bytes and max_bytes >> 10}
        limited = "".join(f"ulimit -{letter} {most}; " for letter, most in limits.items() if most)
        if limited:
            self.command = ["sh", "-c", f'{limited}exec "$@"', "sh", *self.command]
        self.environment = os.environ | ({} if tree is None else {"PYTHONPATH": str(tree.resolve())})
        self.process: subprocess.Popen[bytes] | None = None
        self.log = TemporaryFile()  # noqa: SIM115 (closed with the object; a pipe could fill up)

    def start(self) -> None:
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=self.log, env=self.environment)
        until = time.monotonic() + START_SECONDS
        while not self.answers():
            if self.process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"the gateway did not start: {self.stop()}")
            time.sleep(0.02)

    def kill(self) -> None:
        """End it at once, in the middle of whatever it does."""
        self._running.send_signal(signal.SIGKILL)
        self._running.wait()

    def stop(self) -> str:
        """End it in order, and return what it wrote to stderr."""
        self._running.terminate()
        self._running.wait(START_SECONDS)
        self.log.seek(0)
        return self.log.read().decode()

    @property
    def peak_bytes(self) -> int:
        status = Path(f"/proc/{self._running.pid}/status").read_text(encoding="utf-8")
        (found,) = re.findall(r"VmHWM:\s+(\d+) kB", status)
        return int(found) << 10

    @property
    def log_bytes(self) -> int:
        return os.fstat(self.log.fileno()).st_size

    @property
    def cpu_seconds(self) -> float:
        times = psutil.Process(self._running.pid).cpu_times()
        return float(times.user + times.system)

    @property
    def _running(self) -> subprocess.Popen[bytes]:
        assert self.process is not None, "not started"
        return self.process

    def answers(self, timeout: float = 5) -> bool:
        try:
            return ask(self.url, "GET", "/_winnow", timeout=timeout).status == 200
        except OSError:
            return False

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._running.poll() is None:
            self.stop()
        self.log.close()
