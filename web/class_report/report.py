"""Writes the report of a set of documents: one HTML file, or a folder with a page for each pair."""

from __future__ import annotations

import re
import shutil
from datetime import UTC, datetime
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from markupsafe import Markup

from opensearch_winnow.foundation.atomic_file import reporting_os_errors
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.queries.sets.pairs import Pair, Pairs
from opensearch_winnow.web.charts.axes import chart
from opensearch_winnow.web.charts.bar_charts import PAIR_FRAME, bar_range, pair_histogram
from opensearch_winnow.web.charts.colour_steps import colour_step
from opensearch_winnow.web.class_report import words
from opensearch_winnow.web.class_report.anonymised import anonymised, pseudonyms
from opensearch_winnow.web.class_report.groups import connected_groups, document_numbers
from opensearch_winnow.web.class_report.pair_panes import PairPanes, pair_panes, shown_chars
from opensearch_winnow.web.pages import InlineStyle, Pages

WRITING: Final = "writing the report"  # a phase
MAX_PAIRS_IN_FILE = 200  # side by side; all pairs are in the table
MAX_CHARS_IN_FILE = 8_000_000  # of the texts side by side: a browser opens so much in seconds
MAX_PAIRS_IN_FOLDER = 2_000
MAX_MATRIX_DOCUMENTS = 60
INDEX, PAGE_NAME = "index.html", re.compile(r"pair-\d{4,}\.html")
STYLES = ("winnow.css", "texts.css", "clusters.css", "class_report.css")
SCRIPT = "class_report.js"
GENERATOR = "winnow pairs"  # marks a folder as a report


def write_report(
    pairs: Pairs,
    target: Path,
    *,
    anonymise: bool = False,
    title: str = "",
    progress: Progress = no_progress,
) -> int:
    """Write the report to `target`, one file if its name ends with .html and otherwise a folder; return the number of
    pairs that it shows side by side.

    When the report is complete, it replaces a file at `target`, or a folder with a report. `anonymise` replaces the
    names of documents, files and owners.
    """
    is_file = target.suffix.lower() in (".html", ".htm")
    report = ClassReport(pairs, anonymise=anonymise, title=title, is_file=is_file)
    with reporting_os_errors(target):
        (_write_file if is_file else _write_folder)(report, target, progress)
    return report.side_by_side


class ClassReport:
    """Renders the pages of a report."""

    def __init__(self, pairs: Pairs, *, anonymise: bool, title: str, is_file: bool) -> None:
        self._numbers = document_numbers(pairs)
        has_owners = any(each.owner for each in pairs.documents)
        if anonymise:
            names = pseudonyms(pairs, self._numbers)
            pairs = anonymised(pairs, names)
            self._numbers = {names[name]: number for name, number in self._numbers.items()}
        self._pairs = pairs
        self._documents = {each.id: each for each in pairs.documents}
        self._ranks = {id(pair): rank for rank, pair in enumerate(pairs.pairs, 1)}
        self._is_file = is_file
        self._code = pairs.form == "code"
        self.side_by_side = self._count_side_by_side()
        self._pages = Pages(
            style=InlineStyle.of(*STYLES, script=SCRIPT),
            pairs=pairs,
            scheme=pairs.parameters,
            words=words,
            numbers=self._numbers,
            title=title,
            anonymise=anonymise,
            has_owners=has_owners,
            is_file=is_file,
            side_by_side=self.side_by_side,
            address=self._address,
            address_of=self._address_of,
            generator=GENERATOR,
            today=f"{datetime.now(UTC):%Y-%m-%d}",
        )

    def index(self, *, progress: Progress = no_progress) -> bytes:
        """Return the page with all pairs, and in a single file also the pairs side by side."""
        views = (self._view(rank, progress) for rank in range(1, self.side_by_side + 1)) if self._is_file else ()
        return self._pages.render("class_report", views=views, **self._overview())

    def page(self, rank: int) -> bytes:
        """Return the page of one pair."""
        return self._pages.render("class_pair", view=self._view(rank, no_progress))

    @staticmethod
    def page_name(rank: int) -> str:
        return f"pair-{rank:04}.html"

    def _count_side_by_side(self) -> int:
        if not self._is_file:
            return min(len(self._pairs.pairs), MAX_PAIRS_IN_FOLDER)
        sizes = (
            shown_chars(self._documents[pair.a]) + shown_chars(self._documents[pair.b])
            for pair in self._pairs.pairs[:MAX_PAIRS_IN_FILE]
        )
        return sum(size <= MAX_CHARS_IN_FILE for size in accumulate(sizes))

    def _address(self, rank: int) -> str:
        """Return the address of a pair: side by side, or else in the table."""
        if rank > self.side_by_side:
            return f"#row-{rank}"
        return f"#pair-{rank}" if self._is_file else self.page_name(rank)

    def _address_of(self, pair: Pair) -> str:
        return self._address(self._ranks[id(pair)])

    def _view(self, rank: int, progress: Progress) -> PairPanes:
        check_cancelled()
        progress(WRITING, rank - 1, self.side_by_side)
        pair = self._pairs.pairs[rank - 1]
        return pair_panes(rank, pair, self._documents[pair.a], self._documents[pair.b], code=self._code)

    def _overview(self) -> dict[str, Any]:
        pairs = self._pairs
        return {
            "groups": connected_groups(pairs, self._numbers, self._address_of),
            "histogram": self._histogram(),
            "bars": [(bar_range(i, len(pairs.histogram)), bar) for i, bar in enumerate(pairs.histogram) if bar],
            "frame": PAIR_FRAME,
            "matrix": self._matrix(),
            "colour_step": colour_step,
        }

    def _histogram(self) -> Markup | None:
        pairs = self._pairs
        if not any(pairs.histogram) or pairs.measure != "similarity":
            return None
        drawn = pair_histogram(pairs.histogram, pairs.min_score, score="similarity")
        return Markup("".join(chart(PAIR_FRAME, "Compared pairs by similarity", drawn)))

    def _matrix(self) -> list[tuple[str, list[tuple[int, Pair] | None]]] | None:
        """Return a row for each document that is in a pair, with the rank and pair for each document before it."""
        found = {
            frozenset((self._numbers[pair.a], self._numbers[pair.b])): (self._ranks[id(pair)], pair)
            for pair in self._pairs.pairs
        }
        in_pairs = set().union(*found)
        named = [name for name, number in self._numbers.items() if number in in_pairs]
        if not 3 <= len(named) <= MAX_MATRIX_DOCUMENTS:
            return None
        rows = enumerate(named, 1)
        return [(name, [found.get(frozenset((row, column))) for column in range(1, row)]) for row, name in rows]


def _write_file(report: ClassReport, target: Path, progress: Progress) -> None:
    with open_new(target) as file:
        file.write(report.index(progress=progress))


def _write_folder(report: ClassReport, target: Path, progress: Progress) -> None:
    new, old = (target.with_name(f".{target.name}.{suffix}") for suffix in ("new", "old"))
    if old.exists() and not target.exists():  # a run was killed while it replaced the report
        old.rename(target)
    if target.exists() and not _is_report(target):
        raise FileError(f"{target} is not empty, and is not a report: name another folder, or a file such as x.html")
    for left_over in (new, old):
        shutil.rmtree(left_over, ignore_errors=True)
    new.mkdir(parents=True)
    try:
        for rank in range(1, report.side_by_side + 1):
            check_cancelled()
            progress(WRITING, rank - 1, report.side_by_side)
            (new / report.page_name(rank)).write_bytes(report.page(rank))
        (new / INDEX).write_bytes(report.index())
        if target.exists():
            target.rename(old)
        new.rename(target)
    finally:
        shutil.rmtree(new, ignore_errors=True)
    shutil.rmtree(old, ignore_errors=True)


def _is_report(folder: Path) -> bool:
    """Return whether a folder may be replaced: it is empty, or has only the pages of a report."""
    if not folder.is_dir() or folder.is_symlink():
        return False
    names = {each.name for each in folder.iterdir()}
    if not names:
        return True
    if INDEX not in names or not all(name == INDEX or PAGE_NAME.fullmatch(name) for name in names):
        return False
    with (folder / INDEX).open("rb") as index:
        return f'content="{GENERATOR}"'.encode() in index.read(2_000)
