"""Peers that score all pairs of programs, with their defaults. Each function takes a folder with a folder for each
program, and the folder of the base code or None."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from itertools import combinations
from pathlib import Path

from benchmarks.peers.missing import MissingError

PairScores = dict[tuple[str, str], float]
Scorer = Callable[[Path, Path | None], PairScores]
HERE = Path(__file__).resolve().parent


def copydetect() -> Scorer:
    from copydetect import CopyDetector  # noqa: PLC0415

    def scores(folder: Path, base: Path | None) -> PairScores:
        bases = [str(base)] if base else []
        detector = CopyDetector(test_dirs=[str(folder)], extensions=["java"], boilerplate_dirs=bases, silent=True)
        detector.run()
        found, names = detector.similarity_matrix, [Path(file).parent.name for file in detector.test_files]
        index_of = {Path(file).parent.name: n for n, file in enumerate(detector.ref_files)}
        return {
            _pair(names[a], names[b]): float(
                max(found[a][index_of[names[b]]].max(), found[b][index_of[names[a]]].max())
            )
            for a, b in combinations(range(len(names)), 2)
        }

    return scores


def jplag() -> Scorer:
    """JPLAG_LIB is a folder with the jars of de.jplag:jplag and de.jplag:java; java is at least 21."""
    jars = _folder("JPLAG_LIB")
    java = os.environ.get("JPLAG_JAVA", "java")
    return lambda folder, base: _printed([java, "-cp", f"{jars}/*", str(HERE / "JPlagPairs.java"), folder, base])


def dolos() -> Scorer:
    """DOLOS_FOLDER is a folder in which the npm package @dodona/dolos-lib is installed."""
    dolos_folder = _folder("DOLOS_FOLDER")

    def scores(folder: Path, base: Path | None) -> PairScores:
        file = next(base.iterdir()) if base else None
        return _printed(["node", str(HERE / "dolos_pairs.mjs"), folder, file], dolos_folder)

    return scores


def _printed(command: list[str | Path | None], cwd: Path | None = None) -> PairScores:
    words = [str(word) for word in command if word is not None]
    done = subprocess.run(words, cwd=cwd, check=True, capture_output=True, text=True)
    lines = (line.split("\t") for line in done.stdout.splitlines())
    return {_pair(a, b): float(score) for a, b, score in lines}


def _folder(variable: str) -> Path:
    if variable not in os.environ:
        raise MissingError(f"{variable} is not set")
    return Path(os.environ[variable])


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)
