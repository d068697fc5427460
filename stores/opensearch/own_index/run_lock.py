"""Keeps runs on an attached index apart: `winnow detach` works alone.

A document of the settings lists the runs that work on the index. The engine executes a change of the list only if it
has not changed since it was read, so the engine decides which run comes first. Runs that add fields may work beside
each other: each of their writes is executed only if the document has not changed since it was read.

Every run increases a number in its entry. A run whose number has not changed for EXPIRY_SECONDS counts as dead. Times
of different machines are never compared, because their clocks differ.
"""

from __future__ import annotations

import os
import secrets
import socket
import time
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from threading import Event, Lock, Thread
from typing import Any, Self

from opensearchpy import NotFoundError

from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.mappings.opensearch_mapping import META
from opensearch_winnow.stores.opensearch.index_client import IndexClient
from opensearch_winnow.stores.opensearch.requests.errors import reporting_engine_errors
from opensearch_winnow.stores.opensearch.stored_settings import StoredSettings
from opensearch_winnow.stores.opensearch.upkeep.setup import check, create, settings_step
from opensearch_winnow.stores.store import StoreError

LOCK = "lock"  # the setting
BEAT_SECONDS = 2.0  # between two signs of life: a run that is alive is recognised after this time
EXPIRY_SECONDS = 60.0  # without a sign of life, after which a run counts as dead; engines may be busy for a while
POLL_SECONDS = 0.25  # between two looks at a run that may be dead
RELEASE_SECONDS = 5.0  # to wait for an engine that does not answer when a run ends
BOOT, NAMESPACE = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")

Entry = dict[str, Any]  # of a run: command, index, alone, pid, host, machine, since, beat


class RunLock:
    """A run on an attached index, which others respect. It is in the index of the settings, which it creates.

    Usage: `with RunLock(index, "detach", alone=True) as lock: …`, with `lock.check()` before each batch of writes.
    """

    def __init__(
        self, index: IndexClient, command: str, *, alone: bool = False, progress: Progress | None = None
    ) -> None:
        self._index = index
        self._settings = StoredSettings(index)
        self._progress = progress or no_progress
        self._id = secrets.token_hex(8)
        self._entry: Entry = {
            "command": command,
            "index": index.index_name,
            "alone": alone,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            "machine": _machine(),
            "since": datetime.now(UTC).isoformat(" ", "minutes").replace("+00:00", " UTC"),
            "beat": 0,
        }
        self._confirmed = 0.0  # when the last beat was sent that the engine has accepted
        self._lost = ""  # why the run has to stop
        self._was_attached = False
        self._stop = Event()
        self._beating = Lock()
        self._thread = Thread(target=self._beat_on, name="lock", daemon=True)

    def __enter__(self) -> Self:
        """Enter the run in the list; raises a StoreError if one that excludes it is alive."""
        watched: dict[str, tuple[int, float]] = {}
        while True:
            now = time.monotonic()
            self._create_settings()  # a run that has detached the index has removed them
            try:
                self._settings.change(LOCK, partial(self._entered, watched, now))
            except _UndecidedError as undecided:
                self._progress(f"checking whether {undecided} still runs", 0, None)
                time.sleep(POLL_SECONDS)
                continue
            self._confirmed = now
            self._thread.start()
            return self

    def __exit__(self, *_: object) -> None:
        """Take the run off the list."""
        self.stop()
        leaving = Thread(target=self._leave, name="lock", daemon=True)  # the engine may not answer any more
        leaving.start()
        leaving.join(RELEASE_SECONDS)

    def stop(self) -> None:
        """Give no more signs of life, so that the index of the settings can be deleted with this lock in it."""
        self._stop.set()
        self._thread.join(RELEASE_SECONDS)

    def check(self, *, now: bool = False) -> None:
        """Raise a StoreError if the run must not write any more: as far as it knows, or as it is `now`."""
        # Without a sign of life for long, this process or the engine was stopped for a while.
        if not self._lost and (now or time.monotonic() - self._confirmed > EXPIRY_SECONDS / 2):
            self._beat()
        if self._lost:
            raise StoreError(f"{self._index.name} cannot be {self._entry['command']}ed further: {self._lost}")

    def has_others(self) -> bool:
        """Return whether another run is on the list, which needs the settings."""
        return any(id_ != self._id for id_ in self._settings.read(LOCK, cached=False) or ())

    def _create_settings(self) -> None:
        step = settings_step(self._index.settings_index)
        if check(self._index.client, step) == "missing":
            create(self._index.client, self._index.name, step)

    def _entered(self, watched: dict[str, tuple[int, float]], now: float, runs: dict[str, Entry] | None) -> Any:
        """Return the list of runs with this one. `watched` are the beats of others, and when they were seen first."""
        left = {id_: entry for id_, entry in (runs or {}).items() if not _has_ended(entry)}
        undecided = None
        for id_, entry in list(left.items()):
            if id_ == self._id or not (self._entry["alone"] or entry["alone"]):
                continue
            beat, since = watched.setdefault(id_, (entry["beat"], now))
            if beat != entry["beat"]:
                raise StoreError(
                    f"{self._index.name} cannot be {self._entry['command']}ed: {_named(entry)} has been running"
                    f" since {entry['since']}; stop it first, or wait until it has ended"
                )
            if now - since < EXPIRY_SECONDS:
                undecided = entry
            else:
                del left[id_]
        if undecided is not None:
            raise _UndecidedError(_named(undecided))
        return left | {self._id: self._entry}

    def _beat_on(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            with suppress(StoreError):  # the next one may succeed; `check` reports it if none does
                self._beat()

    def _beat(self) -> None:
        """Give a sign of life, and note if the index or its settings are gone."""
        with self._beating:
            now = time.monotonic()
            if not self._entry["alone"]:
                self._lost = self._lost or self._missing()
            if not self._lost:
                self._entry["beat"] += 1
                self._settings.change(LOCK, self._renewed)
                self._confirmed = now

    def _renewed(self, runs: dict[str, Entry] | None) -> dict[str, Entry] | None:
        if runs is None or self._id not in runs:
            others = [f", and {_named(entry)} runs now" for entry in (runs or {}).values() if entry["alone"]]
            self._lost = f"this run gave no sign of life for {EXPIRY_SECONDS:.0f} s{''.join(others)}"
            return runs
        return runs | {self._id: self._entry}

    def _missing(self) -> str:
        """Return a sentence if the index or winnow's settings in it are gone."""
        indices = self._index.client.indices
        with reporting_engine_errors(self._index.name, "read"):
            try:
                path = {"filter_path": f"*.mappings._meta.{META}.settings"}
                is_attached = bool(indices.get_mapping(index=self._index.index_name, params=path))
            except NotFoundError:
                return "it was deleted meanwhile"
            has_settings = indices.exists(index=self._index.settings_index)
        if not has_settings or (self._was_attached and not is_attached):
            return "winnow was detached from it meanwhile, or it is a new index of this name"
        self._was_attached = is_attached
        return ""

    def _leave(self) -> None:
        def without(runs: dict[str, Entry] | None) -> dict[str, Entry] | None:
            return {id_: entry for id_, entry in (runs or {}).items() if id_ != self._id} or None

        with suppress(StoreError):  # it was deleted, or expires
            self._settings.change(LOCK, without)


class _UndecidedError(Exception):
    """A run on the list may be alive or dead; the list has to be read again later."""


def _named(entry: Entry) -> str:
    return f"winnow {entry['command']} of {entry['index']} (process {entry['pid']} on {entry['host']})"


def _has_ended(entry: Entry) -> bool:
    """Return whether a run was on this machine, and its process is gone: its expiry need not be awaited."""
    if not entry["machine"] or entry["machine"] != _machine():
        return False
    try:
        os.kill(entry["pid"], 0)
    except ProcessLookupError:
        return True
    except PermissionError:
        return False
    return False


def _machine() -> str:
    """Return the name of the space in which process numbers are unique; empty if the system has none.

    Host names are not enough: containers may share one, and each counts processes for itself.
    """
    try:
        return f"{BOOT.read_text().strip()} {NAMESPACE.readlink()}"
    except OSError:
        return ""
