"""Releases of two manuals as crawls: are pages that moved located, as by brute force, and how long does it take?

Each pair of releases is compared as it is, and again with all names of the later release exchanged among its pages.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.store import clocked
from benchmarks.table import Run, Table
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.index import Index
from opensearch_winnow.operations.crawls.changes import Changes
from opensearch_winnow.stores.engine.local_engine import LocalEngine
from opensearch_winnow.stores.engine.ports import free_port
from tests.quality.two_releases import AFTER, BEFORE, TwoReleases, index_releases, located, two_releases

RUNS = 3  # of each comparison; the fastest counts
AIM = "Aim: recall@1 at least .97, every resemblance exact, and the same from both stores."


def tables(run: Run) -> Iterator[Table]:
    with TemporaryDirectory(prefix="winnow-bench-") as folder, unpacked_data() as unpacked:
        engine = LocalEngine(Path(folder, "engine"))
        running = engine.start(heap="1g", port=free_port(), owner=os.getpid())
        try:
            found, times = [], []
            for number, releases in enumerate(two_releases(unpacked)):
                if number >= run.size(100):  # of a small run, the first
                    break
                names = str(Path(folder, f"{number}.winnow")), f"{running.url}/releases-{number}"
                (changes, seconds), (others, other_seconds) = (changes_of(name, releases) for name in names)
                found.append(found_row(releases, changes, others))
                times.append(time_row(releases, changes, seconds, other_seconds))
        finally:
            engine.stop()
    yield Table(
        "Pages located, compared with brute force over all pairs",
        (
            "",
            "pages",
            "changed",
            "moved",
            "recall@1",
            "moved wrongly",
            "exact",
            "split",
            "merged",
            "new",
            "not seen",
            "stores agree",
        ),
        found,
        f"{AIM} Moved are the pages whose URL is gone, or has less than half of their text, and whose text is"
        " elsewhere: on the later page with the highest exact resemblance, at least .5; ties count for each. Exact are"
        " the pages whose resemblance is that of brute force to the last digit. The changes of names in the first line"
        " of each manual are those of its authors.",
    )
    yield Table(
        "Milliseconds for each page of the earlier release",
        ("", "pages", "no longer at their URL", "in one file", "on OpenSearch"),
        times,
        f"Wall-clock time of `index.changes` on one node, the fastest of {RUNS} runs.",
    )


def changes_of(name: str, releases: TwoReleases) -> tuple[Changes, float]:
    """Return the changes, and the seconds that they took."""
    with Index.open(name) as index:
        index_releases(index, releases)
        changes = index.changes(BEFORE, AFTER)  # not measured, to warm up
        seconds = clocked(lambda _: index.changes(BEFORE, AFTER), range(RUNS))
    return changes, min(seconds)


def found_row(releases: TwoReleases, changes: Changes, others: Changes) -> tuple[str, ...]:
    found = located(changes, releases)
    counts = changes.counts
    return (
        releases.name,
        f"{len(releases.before):,}",
        f"{counts['changed']:,}",
        f"{found.moves:,}",
        f"{found.located / found.moves:.4f}" if found.moves else "–",
        f"{found.elsewhere:,}",
        f"{found.equal:,} of {found.compared:,}",
        *(f"{counts[kind]:,}" for kind in ("split", "merged", "new", "not_seen")),
        "yes" if changes == others else "no",
    )


def time_row(releases: TwoReleases, changes: Changes, *seconds: float) -> tuple[str, ...]:
    pages = len(releases.before)
    counts = changes.counts
    sought = pages - counts["unchanged"] - counts["changed"]
    return releases.name, f"{pages:,}", f"{sought:,}", *(f"{1000 * each / pages:.2f}" for each in seconds)
