"""Labelled sets of programs, some of them copied and disguised, and measures of how well scores tell them apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations, groupby
from pathlib import Path

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.sets.pair_finder import find_pairs
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile
from opensearch_winnow.queries.upkeep.boilerplate import NO_EXCLUSIONS, Boilerplate, Exclusions

IdPair = tuple[str, str]  # in order
Scores = Mapping[IdPair, float]


@dataclass(frozen=True, slots=True)
class ProgramSet:
    """The programs for one task, by id, and for some pairs of them whether one was copied."""

    name: str
    programs: dict[str, Path]
    copied: dict[IdPair, bool]
    base: Path | None = None  # what was given to all

    def document(self, each: str) -> Document:
        path = self.programs[each]
        return Document(each, (DocumentFile(path.name, path.read_text("utf-8", "replace")),))


def ir_plag(folder: Path) -> list[ProgramSet]:
    """Return the seven tasks of IR-Plag: each pair is an original and its copy, or an independent program."""
    sets = []
    for task in sorted((folder / "student-programs" / "ir-plag").iterdir()):
        programs = {"-".join(path.relative_to(task).parts[:-1]): path for path in sorted(task.rglob("*.java"))}
        copied = {_pair("original", each): each.startswith("plag") for each in programs if each != "original"}
        sets.append(ProgramSet(task.name, programs, copied))
    return sets


def progpedia(folder: Path) -> ProgramSet:
    """Return the task of PROGpedia whose copied pairs are labelled, and the template that was given to all."""
    root = folder / "student-programs" / "progpedia"
    programs = {path.parent.name: path for path in sorted((root / "ACCEPTED").rglob("*.java"))}
    lines = (root / "copied-pairs.tsv").read_text().splitlines()
    labelled = {_pair(*line.split("\t")) for line in lines if line}
    copied = {pair: pair in labelled for pair in combinations(sorted(programs), 2)}
    return ProgramSet("progpedia", programs, copied, root / "base")


def similarities(programs: ProgramSet, scheme: Scheme, *, base: bool = False) -> dict[IdPair, float]:
    """Return the similarity of all pairs that have one, as `winnow pairs` scores them."""
    given = list(programs.base.iterdir()) if base and programs.base else []
    boilerplate = [Boilerplate(path.name, path.read_text()) for path in given]
    exclusions = Exclusions(boilerplate, scheme) if given else NO_EXCLUSIONS
    found = find_pairs([programs.document(each) for each in programs.programs], scheme, exclusions=exclusions)
    return {_pair(pair.a, pair.b): pair.similarity for pair in found.pairs}


def f1(scores: Scores, copied: Mapping[IdPair, bool], threshold: float) -> float:
    """Return the F1 of calling all pairs from a threshold on copied."""
    called = [is_copy for pair, is_copy in copied.items() if scores.get(pair, 0.0) >= threshold]
    return 2 * sum(called) / max(len(called) + sum(copied.values()), 1)


def best_f1(scores: Scores, copied: Mapping[IdPair, bool]) -> float:
    """Return the F1 at the best of all thresholds, which nobody knows beforehand."""
    return max(f1(scores, copied, threshold) for threshold in {scores.get(pair, 0.0) for pair in copied})


def average_precision(scores: Scores, copied: Mapping[IdPair, bool]) -> float:
    """Return the average precision; pairs with one score have one rank."""
    ranked = sorted(((scores.get(pair, 0.0), is_copy) for pair, is_copy in copied.items()), reverse=True)
    total = hits = seen = 0.0
    for _, group in groupby(ranked, key=lambda each: each[0]):
        tied = [is_copy for _, is_copy in group]
        hits, seen = hits + sum(tied), seen + len(tied)
        total += sum(tied) * hits / seen
    return total / max(sum(copied.values()), 1)


def auc(scores: Scores, copied: Mapping[IdPair, bool]) -> float:
    """Return how often a copied pair scores above one that is not."""
    yes, no = ([scores.get(pair, 0.0) for pair, each in copied.items() if each is wanted] for wanted in (True, False))
    return sum((a > b) + (a == b) / 2 for a in yes for b in no) / max(len(yes) * len(no), 1)


def pooled(scores: Iterable[Scores], sets: Iterable[ProgramSet]) -> tuple[dict[IdPair, float], dict[IdPair, bool]]:
    """Return the scores and labels of several tasks as if they were one."""
    values: dict[IdPair, float] = {}
    labels: dict[IdPair, bool] = {}
    for each, programs in zip(scores, sets, strict=True):
        for (a, b), is_copy in programs.copied.items():
            pair = f"{programs.name}/{a}", f"{programs.name}/{b}"
            values[pair], labels[pair] = each.get((a, b), 0.0), is_copy
    return values, labels


def _pair(a: str, b: str) -> IdPair:
    return (a, b) if a < b else (b, a)
