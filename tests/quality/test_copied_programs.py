"""Copied programs of two labelled sets are told from independent ones, at the default threshold too."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path
from statistics import mean

import pytest

from opensearch_winnow.foundation.scheme import PRESETS
from opensearch_winnow.queries.sets.pair_scores import default_minimum
from tests.quality.labelled_programs import (
    auc,
    average_precision,
    best_f1,
    f1,
    ir_plag,
    pooled,
    progpedia,
    similarities,
)

pytestmark = [
    pytest.mark.check,
    pytest.mark.skipif("WINNOW_DATA" not in os.environ, reason="needs the labelled programs in WINNOW_DATA"),
]
SCHEME = PRESETS["programs"]
THRESHOLD = default_minimum("similarity", SCHEME)


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("programs")
    (archive,) = Path(os.environ["WINNOW_DATA"], "student-programs").glob("*.tar.xz")
    with tarfile.open(archive) as tar:
        tar.extractall(folder, filter="data")
    return folder


@pytest.mark.parametrize(("base", "floor"), [(False, 0.73), (True, 0.88)])
def test_progpedia(programs: Path, base: bool, floor: float) -> None:
    labelled = progpedia(programs)
    scores = similarities(labelled, SCHEME, base=base)
    assert f1(scores, labelled.copied, THRESHOLD) >= floor
    assert best_f1(scores, labelled.copied) >= 0.99
    assert average_precision(scores, labelled.copied) >= 0.999


def test_ir_plag(programs: Path) -> None:
    tasks = ir_plag(programs)
    scores = [similarities(each, SCHEME) for each in tasks]
    assert f1(*pooled(scores, tasks), THRESHOLD) >= 0.74
    assert best_f1(*pooled(scores, tasks)) >= 0.87
    assert mean(auc(each, task.copied) for each, task in zip(scores, tasks, strict=True)) >= 0.655
