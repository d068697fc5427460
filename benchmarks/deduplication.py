"""From rows in a file to the rows that are kept in another, beside datatrove, text-dedup and rensa."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from importlib import import_module
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from string import ascii_lowercase
from tempfile import TemporaryDirectory

from benchmarks.clusters_vs_peers import true_clusters
from benchmarks.corpus import visible_text
from benchmarks.crawled_pages import crawled_pages, source
from benchmarks.generated_pages import generated_pages, words
from benchmarks.own_process import in_own_process
from benchmarks.peers.missing import available
from benchmarks.peers.row_deduplication import DATATROVE_BANDS, DATATROVE_ROWS, LINKAGE, PEERS, Deduplicate
from benchmarks.peers.text_clusters import THRESHOLD, Labels
from benchmarks.sketches_vs_peers import PERMUTATIONS, WIDTH, with_version
from benchmarks.table import Run, Table, percent, times
from opensearch_winnow.clusters.deduplication.options import MATCHES, Match
from opensearch_winnow.clusters.options import Linkage
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.operations.sets.deduplication import deduplicate
from opensearch_winnow.queries.compare import compare

ROWS = 20_000
ROUNDS = 2
MANY_ROWS = 1_000_000
SECTIONS = 1_000
THRESHOLDS = (0.5, 0.7, 0.8)
VARIANTS = 20
ROW_CHARS = 2_000  # of a generated row
MEMORY = "1500MB"  # that this run may use of 2 GB, beside Python and its libraries
BYTES_PER_ROW = 20_000  # of HTML: more than the rows need
MIN_WORDS, MAX_WORDS = 30, 700  # of a row
COPIES = 4  # every fourth row is an edited copy of an earlier one
EDITED = (0, 0.002, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15)  # shares of the words that are replaced, in turn
OURS: dict[str, Match] = {"opensearch-winnow": "near", "opensearch-winnow, contained": "contained"}
FIRST = next(iter(OURS))


def tables(run: Run) -> Iterator[Table]:
    yield thresholds_table(run)
    yield peers_table(run)
    yield memory_table(run)


def thresholds_table(run: Run) -> Table:
    """Return how alike edited copies are, and how many of them each threshold drops."""
    random = Random(0)
    sections = list(islice(_sections(random, run.size(SECTIONS)), run.size(SECTIONS)))
    rows = []
    for share in EDITED[1:]:
        pairs = [(" ".join(section), " ".join(_edited(random, section, share))) for section in sections]
        cells = [f"{share * 100:g} %"]
        for scheme in (Scheme(), Scheme(shingle=5)):
            alike = [compare(a, b, scheme=scheme).resemblance for a, b in pairs]
            cells.append(f"{median(alike):.2f}")
            cells += [percent(sum(each >= least for each in alike) / len(alike)) for least in THRESHOLDS]
        rows.append(tuple(cells))
    columns = ["words replaced"]
    for width in (10, 5):
        columns += [f"resemblance, {width} words", *(f"≥ {least:g}" for least in THRESHOLDS)]
    return Table(
        "Copies of real sections, with words replaced here and there",
        tuple(columns),
        rows,
        f"The median resemblance of {len(sections):,} copies, and the share of copies that a threshold drops, with"
        f" shingles of ten words and of five. Sections have {MIN_WORDS} to {MAX_WORDS} words. {source()}",
    )


def peers_table(run: Run) -> Table:
    count, rounds = run.size(ROWS, least=200), run.size(ROUNDS)
    peers, missing = available(PEERS)
    best = dict.fromkeys([*OURS, *peers], float("inf"))
    kept: dict[str, set[str]] = {}
    with TemporaryDirectory(prefix="winnow-bench-") as top:
        file = Path(top, "rows.jsonl")
        texts = real_rows(count)
        write_rows(file, enumerate(texts))
        for _ in range(rounds):
            for name, before in best.items():
                with TemporaryDirectory(dir=top) as folder:
                    kept[name], taken = in_own_process(deduplicating, name, file, Path(folder))
                best[name] = min(before, taken.cpu)
    truth = true_clusters(texts)
    rows = []
    for name, cpu in best.items():
        dropped = {number for number in range(len(texts)) if str(number) not in kept[name]}
        shown = name if name in OURS else with_version(f"{name},").removesuffix(",")
        row = (shown, f"{cpu:.1f}", times(cpu / best[FIRST]), f"{len(dropped):,}")
        if OURS.get(name) == "contained":
            rows.append((*row, "", ""))
        else:
            in_truth, f1 = compared(dropped, truth, LINKAGE.get(name, "representatives"))
            rows.append((*row, f"{in_truth:,}", f"{f1:.4f}"))
    return Table(
        f"JSON lines to kept JSON lines: {count:,} rows",
        ("", "CPU s", "ours is faster by", "rows dropped", "in truth", "F1 of the dropped rows"),
        rows,
        f"Best of {rounds} rounds, all processes and threads counted, without the start of Python. Rows are sections of"
        f" {MIN_WORDS} to {MAX_WORDS} words; every fourth is a copy of another, with up to 15 % of its words replaced"
        f" here and there. {source()} {WIDTH}-word shingles, resemblance from {THRESHOLD:g}. The truth is from the"
        " exact resemblances of all pairs: a row is dropped if it resembles a row kept before it. datatrove and"
        " text-dedup join chains: theirs is to drop all rows of a chain but one, whichever. Peers split words at"
        " spaces, text-dedup also at punctuation: some of their errors are that. rensa and text-dedup have"
        f" {PERMUTATIONS} permutations, datatrove {DATATROVE_BANDS} bands of {DATATROVE_ROWS}, because it verifies"
        " nothing; its words are made by str.split.",
        missing,
    )


def memory_table(run: Run) -> Table:
    count = run.size(MANY_ROWS, least=200) // VARIANTS * VARIANTS
    rows = []
    with TemporaryDirectory(prefix="winnow-bench-") as top:
        file = Path(top, "rows.jsonl")
        write_rows(file, generated_rows(count))
        size = file.stat().st_size
        for match in MATCHES:
            with TemporaryDirectory(dir=top) as folder:
                kept, taken = in_own_process(counting, match, file, Path(folder), folder=Path(folder))
            rows.append(
                (
                    match,
                    f"{taken.cpu:,.0f}",
                    f"{taken.memory / 1e6:,.0f}",
                    f"{taken.disk / 1e9:.1f}",
                    f"{kept:,}",
                )
            )
    return Table(
        f"{count:,} generated rows, {size / 1e9:.1f} GB of JSON lines",
        ("match", "CPU s", "peak memory, MB", "peak disk, GB", "rows kept"),
        rows,
        f"Aim: 2 GB of memory. With --memory {MEMORY}; the disk is for temporary files and the output. Every tenth row"
        " is an edited copy of another. The rows are"
        f" {VARIANTS} variants, with other letters, of {count // VARIANTS:,}.",
    )


def generated_rows(count: int) -> Iterator[tuple[int, str]]:
    """Yield the beginnings of generated pages, and the same in other letters: to generate all takes far longer."""
    texts = [(page.text or "")[:ROW_CHARS] for page in generated_pages(0, count // VARIANTS)]
    for variant in range(VARIANTS):
        letters = str.maketrans(ascii_lowercase, ascii_lowercase[variant:] + ascii_lowercase[:variant])
        for number, text in enumerate(texts):
            yield variant * len(texts) + number, text.translate(letters)


def deduplicating(name: str, file: Path, folder: Path) -> Callable[[], set[str]]:
    prepare_ours()
    work: Deduplicate = partial(ours, OURS[name]) if name in OURS else PEERS[name]()
    return partial(work, file, folder)


def counting(match: Match, file: Path, folder: Path) -> Callable[[], int]:
    prepare_ours()
    to = folder / "kept.jsonl"
    return lambda: deduplicate(file, to, match=match, memory=MEMORY).kept


def prepare_ours() -> None:
    import_module("opensearch_winnow.clusters.deduplication.deciding")  # imported before the clock starts


def ours(match: Match, file: Path, folder: Path) -> set[str]:
    to = folder / "kept.jsonl"
    deduplicate(file, to, match=match)  # THRESHOLD is the default
    return {json.loads(line)["id"] for line in to.read_text(encoding="utf-8").splitlines()}


def compared(dropped: set[int], truth: Mapping[Linkage, Labels], linkage: Linkage) -> tuple[int, float]:
    """Return how many rows are to be dropped, and the F1 of those that are.

    A tool that joins chains may keep any row of a chain.
    """
    labels = list(truth[linkage])
    if linkage == "representatives":
        wanted = {number for number, label in enumerate(labels) if label != number}
        right, total = len(dropped & wanted), len(wanted)
    else:
        sizes, found = Counter(labels), Counter(labels[number] for number in dropped)
        right = sum(min(found[label], size - 1) for label, size in sizes.items())
        total = len(labels) - len(sizes)
    return total, 2 * right / (len(dropped) + total) if dropped or total else 1.0


def write_rows(file: Path, rows: Iterator[tuple[int, str]]) -> None:
    with file.open("w", encoding="utf-8") as opened:
        for number, text in rows:
            opened.write(json.dumps({"id": str(number), "text": text}) + "\n")


@cache
def real_rows(count: int) -> Sequence[str]:
    """Return sections of real pages, with edited copies among them."""
    random = Random(count)
    sections = _sections(random, count)
    rows: list[list[str]] = []
    for number in range(count):
        if number % COPIES == COPIES - 1:
            rows.append(_edited(random, random.choice(rows), EDITED[number // COPIES % len(EDITED)]))
        elif (section := next(sections, None)) is not None:
            rows.append(section)
    return [" ".join(row) for row in rows]


def _sections(random: Random, count: int) -> Iterator[list[str]]:
    for page in crawled_pages(count * BYTES_PER_ROW):
        text = iter(visible_text(page).split())
        while len(section := list(islice(text, random.randint(MIN_WORDS, MAX_WORDS)))) >= MIN_WORDS:
            yield section


def _edited(random: Random, row: list[str], share: float) -> list[str]:
    """Replace a share of the words, here and there."""
    others = iter(words(random, len(row)))
    return [next(others) if random.random() < share else word for word in row]
