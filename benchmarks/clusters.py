"""Clusters of a whole crawl: how the cost grows, the cost starting from HTML, and peers starting from text."""

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
