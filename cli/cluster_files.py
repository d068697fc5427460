"""The files of winnow cluster: whether they can be written, the plot, and which there are at the end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli import cluster_words as words
from opensearch_winnow.cli.cluster_table import Written
from opensearch_winnow.cli.phase_progress import Stopped
from opensearch_winnow.cli.text_file import FileError
from opensearch_winnow.clusters.asked import Clustering
from opensearch_winnow.clusters.found import Found
from opensearch_winnow.operations.clustering import TELLING
from opensearch_winnow.record_files.atomic_file import AtomicFile, reporting_os_errors

SVG = ".svg"


def check_files(files: Mapping[str, str], inputs: Sequence[Path]) -> None:
    """By the option that names each: no input is lost, and none is taken for an input the next time."""
    folders = [path for path in inputs if path.is_dir()]
    for option, name in files.items():
        file = Path(name)
        if any(file.resolve() == Path(other).resolve() for at, other in files.items() if at != option):
            raise FileError(f"{option} {name} is named twice; each file has a name of its own")
        if file.exists() and any(path.exists() and file.samefile(path) for path in inputs):
            raise FileError(f"{option} {name} would overwrite one of the inputs; name another file")
        if file.parent.exists() and any(file.parent.samefile(folder) for folder in folders):
            raise FileError(f"{option} {name} would become a part of the inputs; name a file in another folder")


def check_plot(plot: Path, *, overwrite: bool) -> None:
    """Before the work, not after it."""
    if plot.suffix != SVG:
        raise FileError(f"--plot {plot} is an SVG: name a file that ends in {SVG}")
    if plot.is_dir() or not plot.parent.is_dir():
        raise FileError(f"--plot {plot} cannot be written: name a file in a folder that exists")
    if plot.exists() and not overwrite:
        raise FileError(f"{plot} exists; name another file, or add --overwrite to replace it")


def write_plot(plot: Path, name: str, asked: Clustering, found: Found) -> None:
    from opensearch_winnow.web.size_plot import size_plot  # noqa: PLC0415 (only who asks for it waits)

    about = words.about(asked, found)
    with reporting_os_errors(plot):
        hidden = AtomicFile(plot)
        try:
            with hidden.path.open("w", encoding="utf-8") as file:
                file.writelines(size_plot(found.sizes, found.identical_sizes, name=name, subtitle=about))
            hidden.place()
        finally:
            hidden.discard()


def what_was_written(
    found: Found, output: str | None, evidence: str | None, plot: Path | None, store: str | None
) -> Written:
    if not found.pages:
        return []
    written = []
    if output:
        written.append(("clusters", output))
    if evidence:
        written.append(("evidence", f"{evidence}, {count_of(found.edges, 'pair')}"))
    if plot:
        written.append(("plot", str(plot)))
    if store:
        written.append((store, words.told(found)))
    return written


def what_stopping_left(stopped: Stopped, start: float, tables: Sequence[str | None], told: str | None) -> str:
    """Tables are in place, each as a whole, before a store is told, batch by batch."""
    complete = [name for name in tables if name and Path(name).exists() and Path(name).stat().st_ctime >= start]
    said = [f"{name} is complete" for name in complete]
    if told and (complete or stopped.phase == TELLING):
        said.append(f"{told} may not know all of the clusters, cluster it again")
    return f"Stopped: {'; '.join(said) or 'nothing was written'}."
