"""Strangers who try to stop a gateway, each until it is ended: python -m tests.gateway.attackers NAME URL INDEX SCALE.

A program of its own, so that it does not slow down those who measure. It prints a line when it begins, and the answers
that it has got, as JSON, at its end. SCALE 1 is the full size; less makes requests smaller.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from functools import partial
from threading import Thread

from tests.gateway import body_attacks as bodies, connection_attacks as connections
from tests.gateway.attacker import Attack, Attacker, Round
from tests.gateway.body_attacks import MB, body_attack, bulk_of_names, filter_attack, sending

PAUSE_SECONDS = 0.05
MSEARCH = b"{}\n{}\n"
REFUSED = b'{}\n{"knn":{}}\n'
UPDATE = b'{"update":{"_id":"1"}}\n{"doc":{"body":"a"}}\n'
TINY = b'{"index":{}}\n{}\n'
QUERY = b'{"query":[{}|,{}'
GROUPED = "/INDEX/_search?winnow=group"
SEVERAL = "/_msearch?winnow=group"
ATTACHED = "/INDEX/_bulk"

recorded = partial(Attack, recorded=True)
ATTACKS = (
    Attack("1 kB of gzip to _msearch, 167,000 searches", body_attack(SEVERAL, MSEARCH, 1 * MB, True)),
    Attack("4 kB of gzip to _msearch, 667,000 searches", body_attack(SEVERAL, MSEARCH, 4 * MB, True)),
    Attack("98 kB of gzip to _msearch, 16 million searches", body_attack(SEVERAL, MSEARCH, 99 * MB, True)),
    Attack("a query of 60 MB as 58 kB of gzip", body_attack(GROUPED, QUERY, 60 * MB, True, b"]}")),
    Attack("the same, 4 at a time", body_attack(GROUPED, QUERY, 60 * MB, True, b"]}"), 4),
    # An engine takes long to refuse a million documents, whoever sends them.
    recorded("bulk of tiny documents, 25 MB as gzip", body_attack("/_bulk", TINY, 25 * MB, True)),
    recorded("bulk of tiny documents, 25 MB", body_attack("/_bulk", TINY, 25 * MB, False)),
    recorded("the same to an attached index, gzip", body_attack(ATTACHED, TINY, 25 * MB, True)),
    recorded("the same to an attached index", body_attack(ATTACHED, TINY, 25 * MB, False)),
    # Just below the limits: 1,000 searches, and 9,990 documents.
    Attack("1,000 searches that name nothing", body_attack(SEVERAL, MSEARCH, 6_000, False), 16),
    Attack("1,000 searches that are refused", body_attack(f"/INDEX{SEVERAL}", REFUSED, 14_000, False), 16),
    recorded("9,990 tiny documents to an attached index, gzip", body_attack(ATTACHED, TINY, 159_840, True), 20),
    recorded("9,990 tiny updates of an attached index, gzip", body_attack(ATTACHED, UPDATE, 439_560, True), 20),
    recorded("4,000 names in a bulk", sending("/_bulk", bulk_of_names(b"n%d", 4_000), packed=True)),
    recorded("12,000 names in a bulk", sending("/_bulk", bulk_of_names(b"n%d", 12_000), packed=True)),
    recorded("12,000 names in a path", bodies.names_in_path(12_000)),
    recorded("12,000 names in a _msearch", bodies.names_in_msearch(12_000)),
    *(
        Attack(f"filter_path of {count} × **.", filter_attack("**." * count + "nothing"))
        for count in (10, 50, 150, 2_000)
    ),
    Attack("filter_path *a*a*a…", filter_attack("**." + "*a" * 2_000 + "*b")),
    Attack("filter_path of 5,000 paths", filter_attack(",".join(f"**.*{number}*.x" for number in range(5_000)))),
    Attack("1,100 half-sent heads", connections.half_sent_heads(), 1_100, max_files=1_024),
    Attack("1,100 heads, a byte a second", connections.half_sent_heads(b"x"), 1_100, max_files=1_024),
    recorded("300 slow bodies of documents", connections.slow_bodies("/INDEX/_doc"), 300),
    recorded("300 slow bodies that pass", connections.slow_bodies("/INDEX/_settings", "PUT"), 300),
    recorded("20 bodies of 40 MB that do not end", connections.large_unfinished_bodies, 20),
    recorded("300 answers of 50 MB that are not read", connections.unread_answers("/_big"), 300),
    Attack(
        "100 grouped answers that are not read",
        connections.unread_answers(f"{GROUPED}&size=100&winnow_members=1000", b'{"query":{"match_all":{}}}'),
        strangers=100,
    ),
    Attack("clients that leave", connections.leaving, 8),
    Attack("pipelining without reading", connections.pipelining, 4),
    Attack("150 unusable names in a bulk", sending("/_bulk", bulk_of_names(b"_no-%d", 150))),
    Attack("names with control characters, and of 200 kB", bodies.hostile_names),
    Attack("odd headers: 5,000, of 2 MB, not UTF-8", connections.odd_headers),
    recorded("odd HTTP", connections.odd_http),
    recorded("dots in paths below a prefix", connections.dots, prefix=True),
    Attack("JSON 200 to 100,000 deep", bodies.deep_json),
    Attack("odd values in searches", bodies.odd_searches),
    Attack("gzip of 100,000 members", bodies.gzip_members),
)
ALL_AT_ONCE = (
    Attack("all that are for a real engine at once", lambda _: nothing),
    Attack("all of them at once", lambda _: nothing, recorded=True, prefix=True),
)


async def nothing(_: Attacker) -> None:
    raise AssertionError("the attacks themselves are begun")


def chosen(name: str) -> list[Attack]:
    """Return the attacks of a name: one, or several at once."""
    real, recorded = (each.name for each in ALL_AT_ONCE)
    return [each for each in ATTACKS if name in (each.name, recorded) or (name == real and not each.recorded)]


async def run(attacker: Attacker, once: Round) -> None:
    while True:
        await once(attacker)
        await asyncio.sleep(PAUSE_SECONDS)


def end_with_parent() -> None:
    """End this process when the one that has started it is gone."""
    while os.read(sys.stdin.fileno(), 1):  # not by sys.stdin, whose lock would be held at the end of this process
        pass
    os._exit(1)


async def main() -> None:
    name, url, index, scale = sys.argv[1:]
    attacker = Attacker(url, index, float(scale))
    begun = [(attack.begin(attacker), attacker.size(attack.strangers)) for attack in chosen(name)]
    print("ready", flush=True)
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    await loop.run_in_executor(None, sys.stdin.readline)  # until all is measured without attack
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    Thread(target=end_with_parent, daemon=True).start()
    tasks = [asyncio.create_task(run(attacker, once)) for once, number in begun for _ in range(number)]
    await ended.wait()
    for task in tasks:
        task.cancel()
    print(json.dumps(attacker.answers), flush=True)


if __name__ == "__main__":
    asyncio.run(main())
