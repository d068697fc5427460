"""winnow cluster: the near-duplicates of a whole crawl, in clusters."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from opensearch_winnow.answers.formatting import duration
from opensearch_winnow.cli import cluster_words as words
from opensearch_winnow.cli.cluster_files import (
    check_files,
    check_plot,
    what_stopping_left,
    what_was_written,
    write_plot,
)
from opensearch_winnow.cli.cluster_table import show_rows, show_table
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.next_step import next_step
from opensearch_winnow.cli.phase_progress import Stopped, shown_phases
from opensearch_winnow.cli.store_option import store_option
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.clusters.asked import LINKAGES, Clustering, Linkage
from opensearch_winnow.clusters.run import ENGINES, EngineName, How, cluster_records
from opensearch_winnow.operations.clustering import cluster_store
from opensearch_winnow.stores.opening import files_of, open_store, printable

USUAL = Clustering()


class Settings(click.ParamType[tuple[str, str]]):
    """KEY=VALUE."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, setting = value.partition("=")
        if not (key and equals):
            self.fail(f"{value!r} is not KEY=VALUE, such as spark.executor.memory=8g", param, ctx)
        return key, setting


@click.command("cluster", short_help="The near-duplicates of a whole crawl, in clusters.")
@click.argument("more", metavar="[P]...", nargs=-1, type=click.Path())
@store_option(
    "The store to cluster, which is told the clusters: a file (crawl.winnow), or http://host:9200/name.",
    required=False,
)
@click.option(
    "--records",
    metavar="P",
    multiple=True,
    type=click.Path(),
    help="Instead of a store: a record file, or a folder of them. More may follow.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="What computes them: the clusters are the same. spark reads and writes all that Hadoop does.",
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=USUAL.threshold,
    show_default=True,
    help="How much a page resembles the representative of its cluster, at least.",
)
@click.option(
    "--linkage",
    type=click.Choice(LINKAGES),
    default=USUAL.linkage,
    show_default=True,
    help="components: all that hangs together by resemblances is one cluster, however long the chain.",
)
@click.option("--fast", is_flag=True, help="Compare pages that share a band only. Says how many pairs that misses.")
@click.option(
    "--compared",
    metavar="N",
    type=click.IntRange(2, 1_000_000),
    default=USUAL.compared,
    show_default=True,
    help="With how many earlier pages to compare a page because of one band or shingle that they share, at most.",
)
@click.option(
    "--output", metavar="OUT", type=click.Path(), help="Write the clusters here: Parquet, a row for each page."
)
@click.option(
    "--evidence",
    metavar="OUT",
    type=click.Path(),
    help="Write why pages are in one cluster: Parquet, a row for a pair.",
)
@click.option(
    "--plot", metavar="OUT", type=click.Path(path_type=Path), help="Draw how many clusters have how many pages: SVG."
)
@click.option("--overwrite", is_flag=True, help="Replace what exists of these.")
@click.option(
    "--state",
    metavar="FOLDER",
    type=click.Path(),
    help="Keep what was found here, and compare only what is new the next time. With duckdb.",
)
@click.option("--dry-run", is_flag=True, help="Tell the store nothing.")
@click.option(
    "--memory",
    metavar="SIZE",
    help="How much memory to take, with duckdb; what does not fit goes to disk.  [default: 2GB]",
)
@click.option(
    "--threads",
    metavar="N",
    type=click.IntRange(1, 1024),
    help="How many to compute with, with duckdb.  [default: one for each processor]",
)
@click.option(
    "--work",
    metavar="FOLDER",
    type=click.Path(),
    help="Where what does not fit in memory goes.  [default: beside the output, or the temporary folder]",
)
@click.option(
    "--spark", metavar="KEY=VALUE", type=Settings(), multiple=True, help="A setting of Spark. More may be given."
)
@click.option("-q", "--quiet", is_flag=True, help="No progress.")
@json_option
@color_option
@click.pass_context
def command(
    ctx: click.Context,
    more: tuple[str, ...],
    store: str | None,
    records: tuple[str, ...],
    engine: EngineName,
    threshold: float,
    linkage: Linkage,
    fast: bool,
    compared: int,
    output: str | None,
    evidence: str | None,
    plot: Path | None,
    overwrite: bool,
    state: str | None,
    dry_run: bool,
    memory: str | None,
    threads: int | None,
    work: str | None,
    spark: tuple[tuple[str, str], ...],
    quiet: bool,
    as_json: bool,
    color: str,
) -> None:
    """\b
    Examples:
      winnow cluster --store crawl.winnow
      winnow cluster --store crawl.winnow --dry-run --threshold 0.8 --plot sizes.svg
      winnow cluster --records monday.parquet tuesday.parquet --output clusters.parquet --evidence edges.parquet
      winnow cluster --store http://localhost:9200/pages --state pages.state
      winnow cluster --engine spark --records hdfs:///crawl --output hdfs:///clusters --spark spark.executor.memory=8g

    Puts the pages of a store, or of record files, into clusters of near-duplicates. The earliest page of a cluster is
    its representative, and every other one resembles that at least X: there are no chains, unless --linkage components
    asks for them. Nothing else decides: not the order of the input, not the engine, not the number of threads.

    A store is told the cluster of each page where it has changed, and winnow search --by cluster uses it. Files appear
    when they are complete, or not at all.

    On a terminal tables; in a pipe tab-separated values. Exit code 1 if there is no page.
    """
    names = (*records, *more)
    if names and ctx.get_parameter_source("store") is ParameterSource.ENVIRONMENT:
        store = None
    if bool(names) == bool(store):
        raise click.UsageError("what to cluster? Name --store S or --records P: one of both", ctx)
    if dry_run and not store:
        raise click.UsageError("--dry-run is for --store: record files are never changed", ctx)
    if spark and engine != "spark":
        raise click.UsageError("--spark is for --engine spark", ctx)
    files = {"--output": output, "--evidence": evidence, "--plot": plot and str(plot)}
    inputs = files_of(store) if store else list(map(Path, names))
    check_files({option: name for option, name in files.items() if name}, inputs)
    if plot:
        check_plot(plot, overwrite=overwrite)
    asked = Clustering(threshold=threshold, linkage=linkage, fast=fast, compared=compared)
    how: How = {
        "engine": engine,
        "output": output,
        "evidence": evidence,
        "overwrite": overwrite,
        "state": state,
        "memory": memory,
        "threads": threads,
        "work": work,
        "spark": dict(spark),
    }
    name = printable(store) if store else names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more"
    start = time.time()
    try:
        with shown_phases(quiet=quiet, color=color) as how["progress"]:
            if store:
                with open_store(store) as opened:
                    found = cluster_store(opened, asked, write_back=not dry_run, **how)
            else:
                found = cluster_records(names, asked, **how)
    except Stopped as stopped:
        say(what_stopping_left(stopped, start, (output, evidence), name if store and not dry_run else None))
        raise
    if found.pages and plot:
        write_plot(plot, name, asked, found)
    written = what_was_written(found, output, evidence, plot, name if store else None)
    if as_json:
        click.echo(json.dumps(found.as_document()))
    elif screen := terminal(color):
        show_table(screen, name, asked, found, written)
    else:
        show_rows(found, written)
    if not found.pages:
        say(f"No page in {name}")
        ctx.exit(NOTHING_FOUND)
    if found.expected_recall is not None and found.expected_recall < words.ENOUGH:
        say(words.recall_is_low(found.expected_recall))
    remark(f"{name}: {duration(found.seconds)} on {found.engine}")
    if store and found.largest:
        next_step(ctx, "similar", found.largest[0].url)
    elif not (store or output):
        remark("Nothing was written: --output clusters.parquet keeps the clusters")
