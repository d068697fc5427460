"""Options are checked when they are made, and are the same in Python and in the engines."""

from __future__ import annotations

from typing import Any

import pytest

from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, ClusterRun, RunSettings
from opensearch_winnow.foundation.errors import QuestionError


def test_a_run_has_the_options_of_its_parts() -> None:
    run = ClusterRun(threshold=0.7, engine="spark", spark={"spark.executor.memory": "8g"}, write_back=False)
    assert run.part(ClusteringOptions) == ClusteringOptions(threshold=0.7)
    assert run.part(RunSettings) == RunSettings(engine="spark", spark={"spark.executor.memory": "8g"})


@pytest.mark.parametrize("name", ["changes", "key"])
def test_a_store_sets_some_settings_itself(name: str) -> None:
    with pytest.raises(TypeError, match=name):
        ClusterRun(**{name: "x"})  # type: ignore[arg-type]


@pytest.mark.parametrize("bad", [{"compared": 1}, {"memory": "1MB"}, {"engine": "spark", "state": "folder"}])
def test_a_run_is_checked_like_its_parts(bad: dict[str, Any]) -> None:
    with pytest.raises(ClusterError):
        ClusterRun(**bad)
    with pytest.raises(QuestionError, match="a representative is chosen by"):
        ClusterRun(representative="oldest")


@pytest.mark.parametrize(
    ("made", "options", "message"),
    [
        (ClusteringOptions, {"threshold": 0.0}, "threshold is a share above 0 and at most 1, not 0.0"),
        (ClusteringOptions, {"threshold": 1.5}, "threshold is a share above 0 and at most 1, not 1.5"),
        (ClusteringOptions, {"linkage": "chains"}, "linkage is one of representatives, components, not 'chains'"),
        (ClusteringOptions, {"compared": 1}, "compared is a whole number from 2 to 1,000,000, not 1"),
        (RunSettings, {"engine": "pandas"}, "engine is one of duckdb, spark, not 'pandas'"),
        (RunSettings, {"engine": "spark", "state": "folder"}, "a state needs the engine duckdb"),
    ],
)
def test_bad_options(made: type[Any], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ClusterError) as raised:
        made(**options)
    assert str(raised.value) == message
