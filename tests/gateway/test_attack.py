"""Strangers attack a gateway in every way that is known: others notice little, and nothing is lost."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

import pytest

from opensearch_winnow.stores.engine.running import Running
from tests.gateway.attack_trial import MB, Figures, Trial, attacked_index
from tests.gateway.attacker import Attack
from tests.gateway.attackers import ALL_AT_ONCE, ATTACKS

pytestmark = pytest.mark.xdist_group("gateway attacks")

SECONDS = float(os.environ.get("WINNOW_SOAK_SECONDS", "20"))  # of each attack; of all together three times that
MAX_WAIT_SECONDS = 2.0
MAX_MEMORY = 1_000 * MB  # --max-memory of the gateway
MAX_LOG_BYTES = 300_000
# A write through the gateway is up to four requests to the engine: is the client known, is the index attached, which
# versions are there, and the write. All attackers together take more than two processors, and make each of them wait.
REQUESTS_PER_WRITE = 4
ALLOWED = {"grouped 429"}  # what may happen to an innocent client: a search that can be repeated


@pytest.fixture(scope="module")
def trial(engine: Running) -> Iterator[Trial]:
    with attacked_index(engine.url, f"attacked-{os.getpid()}") as own:
        yield Trial(own, engine.url, ["--max-memory", str(MAX_MEMORY // MB)])


@pytest.mark.soak
@pytest.mark.parametrize("attack", [*ATTACKS, *ALL_AT_ONCE], ids=lambda attack: attack.name)
def test_no_attack_stops_others(trial: Trial, attack: Attack, record_property: Callable[[str, int], None]) -> None:
    figures = trial.figures(attack, SECONDS * (3 if attack in ALL_AT_ONCE else 1))
    record_property(f"{attack.name}: longest wait, ms", round(figures.wait * 1e3))
    record_property(f"{attack.name}: longest wait at the engine, ms", round(figures.direct * 1e3))
    record_property(f"{attack.name}: memory, MB", round(figures.peak_bytes / MB))
    record_property(f"{attack.name}: connections to the engine", figures.connections)
    record_property(f"{attack.name}: log, bytes", figures.log_bytes)
    check(figures)
    # The engine and the machine are under attack as well: a client at the engine shows how much of a wait is theirs.
    requests = REQUESTS_PER_WRITE if attack in ALL_AT_ONCE else 1
    assert figures.wait <= MAX_WAIT_SECONDS + requests * figures.direct, figures


@pytest.mark.check
@pytest.mark.parametrize("attack", ALL_AT_ONCE, ids=lambda attack: attack.name)
def test_a_short_attack_stops_nobody(trial: Trial, attack: Attack) -> None:
    """A fiftieth of the attack, for some seconds. How long others wait depends on what else the machine does."""
    figures = trial.figures(attack, 4.0, 0.02)
    check(figures)
    assert figures.answers


def check(figures: Figures) -> None:
    """Check what must hold on any machine, however busy it is."""
    assert figures.answers_afterwards, figures
    assert (figures.lost, figures.doubled, figures.outside) == ([], [], {}), figures
    assert not figures.failures.keys() - ALLOWED, figures
    assert figures.peak_bytes <= figures.idle_bytes + MAX_MEMORY, figures
    assert figures.log_bytes <= MAX_LOG_BYTES, figures
    assert all(line.isprintable() for line in figures.log.split("\n")), figures
