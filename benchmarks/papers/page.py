"""The page of a paper in docs/papers, and the page that lists them."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from benchmarks.papers.part import Part, wrapped
from benchmarks.papers.run import PaperRun
from benchmarks.table import Table

PAPERS = tuple(name for name in ("winnowing", "broder", "koala") if find_spec(f"benchmarks.papers.{name}"))
DATA_NOTE = """\
Every clone can download the public corpora. Others are used where the folder `WINNOW_DATA` has them. Pages without text
are not counted; bytes are those of the HTML. The digest changes with the canonical text of any page."""

INDEX = """\
# The papers' experiments, run with this software

Each page repeats the experiments of one paper on real pages, and shows the paper's figure beside the one measured here.
Where the two cannot be compared, it says why.

```
make papers                                      # all of them, and write the pages: about a quarter of an hour
.venv/bin/python -m benchmarks.papers koala      # one paper
.venv/bin/python -m benchmarks.papers --quick    # smaller, and writes nothing: what `make check` runs
```
"""


class PaperPage(NamedTuple):
    """What a run of a paper's experiments found."""

    name: str
    title: str
    introduction: str
    parts: list[Part]
    run: PaperRun

    def markdown(self) -> str:
        corpora = Table(
            "Pages used", ("corpus", "what it is", "pages", "bytes", "digest"), list(self.run.corpora()), DATA_NOTE
        )
        blocks = [
            f"# {self.title}",
            wrapped(self.introduction),
            f"This page is written by `python -m benchmarks.papers {self.name}`; `make papers` writes all of them.",
            *(part.markdown() for part in self.parts),
            "## Corpora",
            corpora.markdown(),
        ]
        return "\n\n".join(blocks) + "\n"

    def write(self, folder: Path) -> None:
        """Write the page and its plots."""
        folder.mkdir(exist_ok=True)
        (folder / f"{self.name}.md").write_text(self.markdown(), encoding="utf-8")
        for plot in (part.plot for part in self.parts if part.plot):
            (folder / f"{plot.name}.svg").write_text(plot.svg(), encoding="utf-8")


def index_page() -> str:
    """Return docs/papers/README.md."""
    titles = {name: import_module(f"benchmarks.papers.{name}").TITLE for name in PAPERS}
    return INDEX + "\n" + "\n".join(f"- [{title}]({name}.md)" for name, title in titles.items()) + "\n"
