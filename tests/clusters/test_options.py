"""Options are checked when they are made, and are the same in Python and in the engines."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import pytest

from opensearch_winnow.clusters.options import ClusterError, ClusteringOptions, RunKeywords, RunSettings

SET_BY_THE_STORE = {"changes", "key"}


def test_index_cluster_takes_the_settings_of_a_run() -> None:
    """The keyword parameters and the fields have the same names and types."""
    types = {field.name: field.type for field in fields(RunSettings) if field.name not in SET_BY_THE_STORE}
    assert {name: kind.__forward_arg__ for name, kind in RunKeywords.__annotations__.items()} == types


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"threshold": 0.0}, "the threshold must be above 0 and at most 1, not 0"),
        ({"threshold": 1.5}, "the threshold must be above 0 and at most 1, not 1.5"),
        ({"linkage": "chains"}, "unknown linkage 'chains': choose representatives or components"),
        ({"compared": 1}, "compared must be from 2 to 1,000,000 pages, not 1"),
    ],
)
def test_bad_options(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ClusterError) as raised:
        ClusteringOptions(**options)
    assert str(raised.value) == message


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"engine": "pandas"}, "unknown engine 'pandas': choose duckdb or spark"),
        ({"engine": "spark", "state": "folder"}, "a state needs the engine duckdb"),
    ],
)
def test_bad_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ClusterError) as raised:
        RunSettings(**settings)
    assert str(raised.value) == message
