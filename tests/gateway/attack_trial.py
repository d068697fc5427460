"""Attacks a gateway while an innocent client works, and measures what others notice.

    python -m tests.gateway.attack_trial [--tree ../before] [--seconds 20] [--scale 1] [PART OF A NAME …]

prints a table of all attacks, on an engine of its own.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from opensearchpy import OpenSearch, helpers

from opensearch_winnow.gateway.attached import FILTER
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from tests.gateway.attacker import Attack
from tests.gateway.attackers import ALL_AT_ONCE, ATTACKS
from tests.gateway.gateway_process import GatewayProcess
from tests.gateway.innocent_client import GIVE_UP_SECONDS, InnocentClient
from tests.gateway.raw_requests import ask
from tests.gateway.recording_engine import PREFIX, recording_engine
from tests.public_pages import licences
from tests.stores.opensearch.own_articles import FIELDS, OwnIndex, attach

MB = 1 << 20
LIMIT_BYTES = 6 << 30  # of the gateway's addresses: it shall not take this machine with it
CALM_SECONDS = 3.0  # before an attack, to compare with
DOCUMENTS = 300
NUMBERS = count()
COLUMNS = (
    *("attack", "others wait, s", "at the engine", "without attack", "not answered", "memory, MB", "connections"),
    *("log, kB", "answers to the attacker"),
)


class Figures(NamedTuple):
    attack: str
    wait: float  # the longest of the innocent client, through the gateway
    kind: str  # of the request that has waited
    direct: float  # the longest of another one, at the engine
    calm: float  # the longest through the gateway before the attack
    failures: dict[str, int]  # of the innocent client
    peak_bytes: int  # of the gateway
    idle_bytes: int  # of the gateway before the attack
    connections: int  # from the gateway to the engine, at most
    log_bytes: int
    log: str  # its beginning
    answers: dict[str, int]  # to the attacker
    lost: list[str]  # articles that were acknowledged and are not there
    doubled: list[str]  # articles that are there more than once
    outside: dict[str, int]  # requests at the engine that no client may send
    answers_afterwards: bool

    def row(self) -> tuple[str, ...]:
        wait = f"{self.wait:.1f}{f' ({self.kind})' if self.wait > 1 else ''}"
        return (
            *(self.attack, wait, f"{self.direct:.1f}", f"{self.calm:.1f}"),
            ", ".join(f"{name}: {number}" for name, number in self.failures.items()),
            *(f"{self.peak_bytes / MB:.0f}", str(self.connections), f"{self.log_bytes / 1e3:.0f}"),
            ", ".join(f"{name}: {number:,}" for name, number in self.answers.items())
            + (f"; LOST {len(self.lost)}" if self.lost else "")
            + (f"; TWICE {len(self.doubled)}" if self.doubled else "")
            + (f"; OUTSIDE {sum(self.outside.values())}" if self.outside else "")
            + ("" if self.answers_afterwards else "; answers nobody afterwards"),
        )


@dataclass(frozen=True, slots=True)
class Trial:
    """An engine with an attached index, at which attacks are tried."""

    own: OwnIndex
    engine: str
    options: Sequence[str] = ()  # of the gateway
    tree: Path | None = None  # whose gateway is attacked

    def figures(self, attack: Attack, seconds: float, scale: float = 1.0) -> Figures:
        """Attack a gateway of its own for some seconds."""
        with ExitStack() as stack:
            engine = self.engine
            if attack.recorded:
                folder = Path(stack.enter_context(TemporaryDirectory(prefix="winnow-attack-")))
                about = ask(self.engine, "GET", f"/{self.own.name}?flat_settings=true&expand_wildcards=all&{FILTER}")
                engine = stack.enter_context(recording_engine(self.own.name, about.body, folder))
            to = engine + (PREFIX if attack.prefix else "")
            gateway = stack.enter_context(
                GatewayProcess(to, *self.options, max_files=attack.max_files, max_bytes=LIMIT_BYTES, tree=self.tree)
            )
            number = next(NUMBERS)
            through = InnocentClient(f"through{number}", gateway.url, self.own.name)
            direct = InnocentClient(f"direct{number}", engine, self.own.name, groups=False)
            through.start()
            direct.start()
            command = [sys.executable, "-m", "tests.gateway.attackers", attack.name, gateway.url, self.own.name]
            attacker = stack.enter_context(
                subprocess.Popen([*command, str(scale)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            )
            stack.callback(attacker.kill)
            assert attacker.stdin is not None
            assert attacker.stdout is not None
            assert attacker.stdout.readline() == "ready\n"
            through.longest()
            time.sleep(min(CALM_SECONDS, seconds))
            calm, _ = through.longest()
            direct.longest()
            idle_bytes = gateway.peak_bytes
            attacker.stdin.write("begin\n")
            attacker.stdin.flush()
            connections = _sleep_and_count(engine, seconds)
            attacker.terminate()
            answers = json.loads(attacker.stdout.readline() or "{}")
            attacker.kill()
            answers_afterwards = gateway.answers(GIVE_UP_SECONDS)
            (wait, kind), (direct_wait, _) = through.longest(), direct.longest()
            peak_bytes, log_bytes = gateway.peak_bytes, gateway.log_bytes
            if answers_afterwards:
                through.end()
            failures = dict(through.failures)
            gateway.kill()  # it may still be at work
            through.end()
            direct.end()
            recorded = ask(engine, "GET", "/_recorded").json() if attack.recorded else {}
            there = Counter(recorded["documents"] if attack.recorded else self._headlines())
            gateway.log.seek(0)
            return Figures(
                *(attack.name, wait, kind, direct_wait, calm, failures, peak_bytes, idle_bytes),
                recorded["connections"] if attack.recorded else connections,
                log_bytes,
                gateway.log.read(100_000).decode("utf-8", "replace"),
                answers,
                [each for each in (*through.stored, *direct.stored) if each not in there],
                [each for each in (*through.sent, *direct.sent) if there[each] > 1],
                recorded.get("outside", {}),
                answers_afterwards,
            )

    def _headlines(self) -> list[str]:
        self.own.client.indices.refresh(index=self.own.name)
        query = {"query": {"term": {"author": "innocent"}}, "_source": ["headline"]}
        found = helpers.scan(self.own.client, index=self.own.name, query=query)
        return [hit["_source"]["headline"] for hit in found]


def _sleep_and_count(engine: str, seconds: float) -> int:
    """Return the most connections that this machine had to the engine meanwhile, other than from this process."""
    address, most, until = f":{int(engine.rpartition(':')[2]):04X}", 0, time.monotonic() + seconds
    while time.monotonic() < until:
        rows = [line.split() for line in Path("/proc/net/tcp").read_text(encoding="ascii").splitlines()]
        most = max(most, sum(row[2].endswith(address) and row[3] == "01" for row in rows))
        time.sleep(0.25)
    return max(0, most - 1)  # one of them is that of the client at the engine


@contextmanager
def attacked_index(engine: str, name: str) -> Iterator[OwnIndex]:
    with OpenSearch(engine, timeout=120) as client:
        own = OwnIndex(engine, name, client)
        own.create(shards=1)
        own.write((page.url, licence(page.title, page.html)) for page in islice(licences(), DOCUMENTS))
        attach(client, own.address, FIELDS)
        yield own
        client.indices.delete(index=f"{name},winnow.{name}.settings", params={"ignore_unavailable": "true"})


def licence(title: str | None, html: Any) -> dict[str, Any]:
    return {"headline": title or "", "body": re.sub(r"<[^>]*>", " ", html), "author": "spdx"}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("names", nargs="*", help="parts of the names of attacks; all if there are none")
    parser.add_argument("--tree", type=Path, help="another checkout, whose gateway is attacked")
    parser.add_argument("--seconds", type=float, default=20.0, help="for each attack")
    parser.add_argument("--scale", type=float, default=1.0, help="of the sizes of requests")
    parser.add_argument("--option", action="append", default=[], help="of the gateway")
    given = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # and leave no process behind
    parts = given.names or [""]
    chosen = [attack for attack in (*ATTACKS, *ALL_AT_ONCE) if any(part in attack.name for part in parts)]
    with TemporaryDirectory(prefix="winnow-attack-") as folder:
        engine = LocalEngine(Path(folder, "engine"))
        running = engine.start(heap="1g", port=free_port(), owner=os.getpid())
        try:
            print(f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}", flush=True)
            with attacked_index(running.url, "attacked") as own:
                trial = Trial(own, running.url, given.option, given.tree)
                for attack in chosen:
                    seconds = given.seconds * (3 if attack in ALL_AT_ONCE else 1)
                    figures = trial.figures(attack, seconds, given.scale)
                    print(f"| {' | '.join(figures.row())} |", flush=True)
                    print(f"{attack.name}: {figures.log[:2_000]!r}", file=sys.stderr, flush=True)
        finally:
            engine.stop()


if __name__ == "__main__":
    main()
