"""How well copied programs are told from independent ones, beside JPlag, Dolos and copydetect with their defaults."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import mean

from benchmarks.peers.missing import available
from benchmarks.peers.program_pairs import PairScores, Scorer, copydetect, dolos, jplag
from benchmarks.table import Run, Table
from benchmarks.unpacked_data import unpacked_data
from opensearch_winnow.foundation.scheme import PRESETS
from opensearch_winnow.queries.sets.pair_scores import MIN_PROGRAM_SIMILARITY
from tests.quality.labelled_programs import (
    ProgramSet,
    auc,
    average_precision,
    best_f1,
    f1,
    ir_plag,
    pooled,
    progpedia,
    similarities,
)

PEERS: dict[str, Callable[[], Scorer]] = {"JPlag": jplag, "Dolos": dolos, "copydetect": copydetect}
# What the list of each tool starts at. JPlag lists all pairs, and the library of Dolos has no threshold.
DEFAULTS = {"opensearch-winnow": MIN_PROGRAM_SIMILARITY, "JPlag": 0.0, "Dolos": None, "copydetect": 0.33}
OURS = "opensearch-winnow"
COLUMNS = ("", "default threshold", "F1 there", "F1 at .5", "best F1", "average precision", "AUC, mean of tasks")


def tables(run: Run) -> Iterator[Table]:
    peers, missing = available({} if run.offline else PEERS)
    with unpacked_data() as unpacked:
        folder = unpacked("student-programs")
        tasks, one = ir_plag(folder), progpedia(folder)
        tasks = tasks[: run.size(len(tasks))]
        for title, sets, base in (
            ("PROGpedia: 91 of 2,145 pairs are copied", [one], False),
            ("PROGpedia, with the template as base code", [one], True),
            (f"IR-Plag: {sum(len(task.copied) for task in tasks)} pairs of {len(tasks)} tasks", tasks, False),
        ):
            rows = [row(OURS, sets, [similarities(each, PRESETS["programs"], base=base) for each in sets])]
            for name, scorer in peers.items():
                rows.append(row(name, sets, [peer_scores(scorer, each, folder / "by id", base) for each in sets]))
            yield Table(title, COLUMNS, rows, " ".join(f"{each}." for each in missing))


def peer_scores(scorer: Scorer, programs: ProgramSet, top: Path, base: bool) -> PairScores:
    """Call a peer with a folder in which each program is in a folder with its id."""
    folder = top / programs.name
    for name, path in programs.programs.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        shutil.copy(path, folder / name)
    return scorer(folder, programs.base if base else None)


def row(name: str, sets: list[ProgramSet], scores: list[PairScores]) -> tuple[str, ...]:
    values, copied = pooled(scores, sets)
    default = DEFAULTS[name]
    measured = (
        f1(values, copied, 0.5),
        best_f1(values, copied),
        average_precision(values, copied),
        mean(auc(each, programs.copied) for each, programs in zip(scores, sets, strict=True)),
    )
    at_default = ("none", "–") if default is None else (f"{default:.2f}", f"{f1(values, copied, default):.3f}")
    return name, *at_default, *(f"{each:.3f}" for each in measured)
