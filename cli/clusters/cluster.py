"""The command winnow cluster, which finds clusters of near-duplicates in a whole crawl."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import click

from opensearch_winnow.answers.clusters import clustering_words as words
from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.cli.clusters.cluster_table import Written, table
from opensearch_winnow.cli.command_group import NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunAnswerOutput
from opensearch_winnow.cli.options.store_option import next_step, store_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.phase_progress import Stopped
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.typed_options import typed_unless
from opensearch_winnow.clusters.options import ClusteringOptions, ClusterRun, RunSettings
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.clusters.run import cluster_records
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.credentials import without_credentials
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.option_kinds import path, repeated
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.operations.clusters.clustering import WRITING_BACK, cluster_store
from opensearch_winnow.stores.opening import files_of, open_store

SVG = ".svg"


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFiles(Options):
    """The record files that are clustered, and the plot."""

    records: tuple[str, ...] = option(
        (), repeated(path("P")), "Cluster record files instead of a store: a file or a folder. More may follow."
    )
    plot: str | None = option(
        None, path("OUT", "file"), "Draw the sizes of the clusters to this SVG file.", advanced=True
    )


@click.command("cluster", cls=DescribedCommand, short_help="Find clusters of near-duplicates in a whole crawl.")
@click.argument("more", metavar="[P]...", nargs=-1, type=click.Path())
@store_option(
    "The store to cluster and to update: a file (crawl.winnow) or http://host:9200/name.",
    required=False,
)
@declared_options(ClusterFiles, "files")
@declared_options(ClusterRun, "run")
@declared_options(RunAnswerOutput, "output")
def command(
    more: tuple[str, ...], store: str | None, files: ClusterFiles, run: ClusterRun, output: RunAnswerOutput
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
    names = (*files.records, *more)
    store = typed_unless(store, names)
    if bool(names) == bool(store):
        raise click.UsageError("name what to cluster: either --store S or --records P")
    if not (run.write_back or store):
        raise click.UsageError("--dry-run needs --store: record files are never changed")
    outputs = {"--output": run.output, "--evidence": run.evidence, "--plot": files.plot}
    check_files(
        {flag: file for flag, file in outputs.items() if file}, files_of(store) if store else list(map(Path, names))
    )
    if files.plot:
        check_plot(Path(files.plot), overwrite=run.overwrite)
    more_names = f" and {len(names) - 1:,} more" if len(names) > 1 else ""
    name = without_credentials(store) if store else names[0] + more_names
    options, start = run.part(ClusteringOptions), time.time()
    try:
        with output.progress() as progress:
            settings = replace(run.part(RunSettings), progress=progress)
            if store:
                with open_store(store, patient=True) as opened:
                    result = cluster_store(opened, options, settings, write_back=run.write_back)
            else:
                result = cluster_records(names, options, settings)
    except Stopped as stopped:
        updated = name if store and run.write_back else None
        say(stopped_message(stopped, start, (run.output, run.evidence), updated))
        raise
    if result.pages and files.plot:
        write_plot(Path(files.plot), name, options, result)
    written = list_written(result, run, files.plot, name if store else None)
    output.show(result, lambda screen: table(name, options, result, written, screen.columns))
    if not result.pages:
        end(NOTHING_FOUND, f"No pages in {name}")
    if result.expected_recall is not None and result.expected_recall < words.MIN_RECALL:
        say(words.low_recall_warning(result.expected_recall))
    remark(f"{name}: {duration(result.seconds)} on {result.engine}")
    if store and result.largest_clusters:
        next_step("similar", result.largest_clusters[0].url)
    elif not (store or run.output):
        remark("Nothing was written. --output clusters.parquet writes the clusters to a file.")


def check_plot(plot: Path, *, overwrite: bool) -> None:
    """Check that the plot can be written, before the work starts."""
    if plot.suffix != SVG:
        raise FileError(f"--plot {plot} must be an SVG file: name a file that ends in {SVG}")
    check_output(plot, overwrite=overwrite)


def write_plot(plot: Path, name: str, options: ClusteringOptions, result: ClusteringResult) -> None:
    from opensearch_winnow.web.charts.size_plot import size_plot  # noqa: PLC0415 (slow to import)

    subtitle = words.plot_subtitle(options, result)
    with open_new(plot) as file:
        for part in size_plot(result.sizes, result.identical_sizes, name=name, subtitle=subtitle):
            file.write(part.encode())


def list_written(result: ClusteringResult, settings: RunSettings, plot: str | None, store: str | None) -> Written:
    """Return the outputs: the kind of file and its name, or the store and the number of changed pages."""
    written = [
        ("clusters", settings.output),
        ("evidence", settings.evidence and f"{settings.evidence}, {count_of(result.edges, 'pair')}"),
        ("plot", plot),
        (store or "", store and words.store_update(result)),
    ]
    return [(what, where) for what, where in written if where and result.pages]


def stopped_message(stopped: Stopped, start: float, tables: Sequence[str | None], store: str | None) -> str:
    """Say what a stopped run has written. Complete tables appear first; then the `store` is updated in batches."""
    complete = [name for name in tables if name and Path(name).exists() and Path(name).stat().st_ctime >= start]
    parts = [f"{name} is complete" for name in complete]
    if store and (complete or stopped.phase == WRITING_BACK):
        parts.append(f"{store} may be updated only in part, so cluster it again")
    return f"Stopped: {'; '.join(parts) or 'nothing was written'}."
