"""Clusters of a whole crawl: how they grow with it, what they take from HTML on, and peers from text on."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.clusters_from_html import from_html_table
from benchmarks.clusters_growth import growth_tables
from benchmarks.clusters_vs_peers import peers_table
from benchmarks.table import Run, Table


def tables(run: Run) -> Iterator[Table]:
    growth = yield from growth_tables(run)
    yield from_html_table(run, growth)
    yield peers_table(run)
