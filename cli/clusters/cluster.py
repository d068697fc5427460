"""The command winnow cluster, which finds clusters of near-duplicates in a whole crawl."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.clusters import cluster_summary as summary
from opensearch_winnow.cli.clusters.cluster_table import Written, show_rows, show_table
from opensearch_winnow.cli.command_group import NOTHING_FOUND
from opensearch_winnow.cli.options.run_options import overwrite_option, quiet_option, resource_options
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.terminal import color_option, json_option, remark, say, terminal
from opensearch_winnow.clusters.options import (
    ENGINES,
    LINKAGES,
    ClusteringOptions,
    EngineName,
    Linkage,
    RunSettings,
)
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.operations.clusters.clustering import WRITING_BACK, cluster_store
from opensearch_winnow.queries.searching.representative_rule import CHOICES
from opensearch_winnow.stores.opening import files_of, open_store

DEFAULTS = ClusteringOptions()
SVG = ".svg"


class SparkSetting(click.ParamType[tuple[str, str]]):
    """A parameter KEY=VALUE, as a pair."""

    name = "setting"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        key, equals, setting = value.partition("=")
        if not (key and equals):
            self.fail(f"{value!r} is not KEY=VALUE, such as spark.executor.memory=8g", param, ctx)
        return key, setting


@click.command("cluster", short_help="Find clusters of near-duplicates in a whole crawl.")
@click.argument("more", metavar="[P]...", nargs=-1, type=click.Path())
@store_option(
    "The store to cluster and to update: a file (crawl.winnow) or http://host:9200/name.",
    required=False,
)
@click.option(
    "--records",
    metavar="P",
    multiple=True,
    type=click.Path(),
    help="Cluster record files instead of a store: a file or a folder. More may follow.",
)
@click.option(
    "--engine",
    type=click.Choice(ENGINES),
    default=ENGINES[0],
    show_default=True,
    help="Compute with DuckDB or Spark; the clusters are the same. Spark reads and writes any Hadoop file system.",
)
@click.option(
    "--threshold",
    metavar="X",
    type=click.FloatRange(0, 1, min_open=True),
    default=DEFAULTS.threshold,
    show_default=True,
    help="Minimum resemblance of a page to the representative of its cluster.",
)
@click.option(
    "--linkage",
    type=click.Choice(LINKAGES),
    default=DEFAULTS.linkage,
    show_default=True,
    help="representatives: pages resemble their representative. components: a chain of resemblances is a cluster.",
)
@click.option(
    "--fast", is_flag=True, help="Compare only pages that share a band, and estimate how many pairs that misses."
)
@click.option(
    "--compared",
    metavar="N",
    type=click.IntRange(2, 1_000_000),
    default=DEFAULTS.compared,
    show_default=True,
    help="Compare a page with at most N earlier pages for each band or shingle that they share.",
)
@click.option(
    "--representative",
    metavar="RULE",
    default=DEFAULTS.representative,
    show_default=True,
    help=f"The page to show for each cluster, and to name it after: {CHOICES}.",
)
@click.option(
    "--output", metavar="OUT", type=click.Path(), help="Write the clusters to this Parquet file, a row for each page."
)
@click.option(
    "--evidence",
    metavar="OUT",
    type=click.Path(),
    help="Write the similar pairs behind the clusters to this Parquet file, a row for each pair.",
)
@click.option(
    "--plot", metavar="OUT", type=click.Path(path_type=Path), help="Draw the sizes of the clusters to this SVG file."
)
@overwrite_option
@click.option(
    "--state",
    metavar="FOLDER",
    type=click.Path(),
    help="Keep the pairs found in this folder, so that the next run compares only new pages. duckdb only.",
)
@click.option("--dry-run", is_flag=True, help="Leave the store unchanged.")
@resource_options("duckdb only")
@click.option(
    "--spark", metavar="KEY=VALUE", type=SparkSetting(), multiple=True, help="A setting for Spark. Can be repeated."
)
@quiet_option
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
    representative: str,
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
      winnow cluster --store crawl.winnow --representative site:example.org,example.com
      winnow cluster --engine spark --records hdfs:///crawl --output hdfs:///clusters --spark spark.executor.memory=8g

    Groups the pages of a store, or of record files, into clusters of near-duplicates. The earliest page of a cluster is
    its representative, and every other page resembles it by at least X; --linkage components also allows chains. The
    order of the input, the engine and the number of threads do not change the clusters. With --representative, another
    page of the same cluster is chosen; the others still resemble its earliest page, but perhaps not the chosen one.

    The store is updated with the clusters that changed, and winnow search --by cluster uses them. Files appear when
    they are complete.

    Prints tables on a terminal, and tab-separated values in a pipe. Exit code 1 if there are no pages.
    """
    names = (*records, *more)
    if names and ctx.get_parameter_source("store") is ParameterSource.ENVIRONMENT:
        store = None
    if bool(names) == bool(store):
        raise click.UsageError("name what to cluster: either --store S or --records P", ctx)
    if dry_run and not store:
        raise click.UsageError("--dry-run needs --store: record files are never changed", ctx)
    if spark and engine != "spark":
        raise click.UsageError("--spark needs --engine spark", ctx)
    files = {"--output": output, "--evidence": evidence, "--plot": plot and str(plot)}
    inputs = files_of(store) if store else list(map(Path, names))
    check_files({option: name for option, name in files.items() if name}, inputs)
    if plot:
        check_plot(plot, overwrite=overwrite)
    options = ClusteringOptions(
        threshold=threshold, linkage=linkage, fast=fast, compared=compared, representative=representative
    )
    if store:
        name = without_credentials(store)
    else:
        name = names[0] if len(names) == 1 else f"{names[0]} and {len(names) - 1:,} more"
    start = time.time()
    try:
        with show_phases(quiet=quiet, color=color) as progress:
            settings = RunSettings(
                engine=engine,
                output=output,
                evidence=evidence,
                overwrite=overwrite,
                state=state,
                memory=memory,
                threads=threads,
                work=work,
                spark=dict(spark),
                progress=progress,
            )
            if store:
                with open_store(store, patient=True) as opened:
                    result = cluster_store(opened, options, settings, write_back=not dry_run)
            else:
                result = cluster_records(names, options, settings)
    except Stopped as stopped:
        say(stopped_message(stopped, start, (output, evidence), name if store and not dry_run else None))
        raise
    if result.pages and plot:
        write_plot(plot, name, options, result)
    written = list_written(result, output, evidence, plot, name if store else None)
    if as_json:
        click.echo(json.dumps(result.as_document()))
    elif screen := terminal(color):
        show_table(screen, name, options, result, written)
    else:
        show_rows(result, written)
    if not result.pages:
        say(f"No pages in {name}")
        ctx.exit(NOTHING_FOUND)
    if result.expected_recall is not None and result.expected_recall < summary.MIN_RECALL:
        say(summary.low_recall_warning(result.expected_recall))
    remark(f"{name}: {duration(result.seconds)} on {result.engine}")
    if store and result.largest:
        next_step(ctx, "similar", result.largest[0].url)
    elif not (store or output):
        remark("Nothing was written. --output clusters.parquet writes the clusters to a file.")


def check_plot(plot: Path, *, overwrite: bool) -> None:
    """Check that the plot can be written, before the work starts."""
    if plot.suffix != SVG:
        raise FileError(f"--plot {plot} must be an SVG file: name a file that ends in {SVG}")
    check_output(plot, overwrite=overwrite)


def write_plot(plot: Path, name: str, options: ClusteringOptions, result: ClusteringResult) -> None:
    from opensearch_winnow.web.charts.size_plot import size_plot  # noqa: PLC0415 (slow to import)

    subtitle = summary.plot_subtitle(options, result)
    with open_new(plot) as file:
        for part in size_plot(result.sizes, result.identical_sizes, name=name, subtitle=subtitle):
            file.write(part.encode())


def list_written(
    result: ClusteringResult, output: str | None, evidence: str | None, plot: Path | None, store: str | None
) -> Written:
    """Return what was written: the kind of file or the store, and its name or how much changed."""
    if not result.pages:
        return []
    written = []
    if output:
        written.append(("clusters", output))
    if evidence:
        written.append(("evidence", f"{evidence}, {count_of(result.edges, 'pair')}"))
    if plot:
        written.append(("plot", str(plot)))
    if store:
        written.append((store, summary.store_update(result)))
    return written


def stopped_message(stopped: Stopped, start: float, tables: Sequence[str | None], store: str | None) -> str:
    """Return what a stopped run left. Complete tables appear first, then the `store` is updated batch by batch."""
    complete = [name for name in tables if name and Path(name).exists() and Path(name).stat().st_ctime >= start]
    parts = [f"{name} is complete" for name in complete]
    if store and (complete or stopped.phase == WRITING_BACK):
        parts.append(f"{store} may be updated only in part, so cluster it again")
    return f"Stopped: {'; '.join(parts) or 'nothing was written'}."
