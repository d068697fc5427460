"""Checks the plot that winnow cluster writes, draws it, and tells what was written."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli import cluster_summary as summary
from opensearch_winnow.cli.cluster_table import Written
from opensearch_winnow.cli.phase_progress import Stopped
from opensearch_winnow.clusters.options import ClusteringOptions
from opensearch_winnow.clusters.result import ClusteringResult
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.operations.clustering import WRITING_BACK

SVG = ".svg"


def check_plot(plot: Path, *, overwrite: bool) -> None:
    """Check that the plot can be written, before the work starts."""
    if plot.suffix != SVG:
        raise FileError(f"--plot {plot} must be an SVG file: name a file that ends in {SVG}")
    check_output(plot, overwrite=overwrite)


def write_plot(plot: Path, name: str, options: ClusteringOptions, result: ClusteringResult) -> None:
    from opensearch_winnow.web.size_plot import size_plot  # noqa: PLC0415 (slow to import)

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
