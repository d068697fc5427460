"""Passages that several texts of a set have: finding them, compared with plain Python, and cutting them out of rows."""

from __future__ import annotations

import json
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from random import Random

from benchmarks.corpus import pages, source
from benchmarks.generated_pages import PASSAGES, passage, words
from benchmarks.own_process import in_own_process
from benchmarks.table import Run, Table, times
from benchmarks.timing import alternate
from opensearch_winnow.operations.sets.passage_run import repeated_passages
from opensearch_winnow.operations.sets.repeated_passages import PassageOptions, RepeatedPassageFinder

CHARACTERS = 8_000_000  # plain Python keeps every run of 50 words in memory
ROWS = (10_000, 100_000, 1_000_000)
ROW_WORDS = 300  # about 2 kB
WIDTH = 50
WORD = re.compile(r"\w+")


def tables(run: Run) -> Iterator[Table]:
    yield compared_table(run)
    yield rows_table(run)


def compared_table(run: Run) -> Table:
    texts = pages(run.size(CHARACTERS, least=50_000))
    megabytes = sum(len(text.encode()) for text in texts) / 1e6
    ways: dict[str, Callable[[], int]] = {
        "opensearch-winnow": lambda: _found(texts),
        "plain Python, hashes of runs": lambda: _plainly_found(texts, hashed=True),
        "plain Python, runs": lambda: _plainly_found(texts, hashed=False),
    }
    characters = {name: way() for name, way in ways.items()}
    seconds = alternate(dict(ways), rounds=3)
    ours = seconds["opensearch-winnow"]
    rows = [
        (name, f"{megabytes / taken:.1f}", times(taken / ours), f"{characters[name]:,}")
        for name, taken in seconds.items()
    ]
    note = (
        f"Passages of at least {WIDTH} words that two texts have, all occurrences. {source()} {len(texts):,} texts. "
        "Plain Python keeps the runs of every text, or their hashes, in a `Counter`; its words are `\\w+` in lower "
        "case, and so not quite the same."
    )
    columns = ("", "MB/s", "ours is faster by", "characters in passages")
    return Table(f"{megabytes:.0f} MB of real pages", columns, rows, note)


def _found(texts: Sequence[str]) -> int:
    with RepeatedPassageFinder(PassageOptions(words=WIDTH, occurrences="every")) as finder:
        for text in texts:
            finder.add(text)
        finder.count()
        return sum(end - start for text in texts for start, end, _ in finder.passages(text))


def _plainly_found(texts: Sequence[str], *, hashed: bool) -> int:
    counts: Counter[object] = Counter()
    for text in texts:
        counts.update(set(_runs([word[0] for word in _words(text)], hashed=hashed)))
    characters = 0
    for text in texts:
        found = _words(text)
        end = 0
        for i, run in enumerate(_runs([word[0] for word in found], hashed=hashed)):
            if counts[run] > 1:
                last = found[i + WIDTH - 1][2]
                characters += last - max(found[i][1], end)
                end = last
    return characters


def _words(text: str) -> list[tuple[str, int, int]]:
    return [(word[0], word.start(), word.end()) for word in WORD.finditer(text.lower())]


def _runs(of_text: Sequence[str], *, hashed: bool) -> Iterator[object]:
    for i in range(len(of_text) - WIDTH + 1):
        run = tuple(of_text[i : i + WIDTH])
        yield hash(run) if hashed else run


def rows_table(run: Run) -> Table:
    rows = []
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        for count in ROWS:
            count = run.size(count, least=200)
            path = folder / "rows.jsonl"
            with path.open("w", encoding="utf-8") as file:
                file.writelines(json.dumps({"id": str(number), "text": row(number)}) + "\n" for number in range(count))
            size = path.stat().st_size
            result, taken = in_own_process(_prepared, str(path))
            rows.append(
                (
                    f"{count:,}",
                    f"{size / 1e6:,.0f}",
                    f"{taken.cpu:,.1f}",
                    f"{1e6 * taken.cpu / count:,.0f}",
                    f"{taken.memory / 1e6:,.0f}",
                    f"{result['passages']:,}",
                    f"{result['characters_in_passages'] / result['characters']:.1%}".replace("%", " %"),
                )
            )
    note = (
        "Aim: a million rows within 2 GB of memory. What `winnow dedup --passages` does: read JSON lines, cut all "
        f"occurrences but the first, and write the rows. A row has about {ROW_WORDS} random words; one in three quotes "
        f"one of {PASSAGES:,} passages of 60 words."
    )
    columns = ("rows", "MB", "CPU, s", "µs per row", "memory, MB", "passages", "of the text")
    return Table("Rows without repeated passages", columns, rows, note)


def row(number: int) -> str:
    random = Random(number)
    own = words(random, ROW_WORDS)
    if number % 3 == 0:
        own[100:100] = _passage(int(PASSAGES ** random.random()))
    return " ".join(own)


_passage = cache(passage)


def _prepared(path: str) -> Callable[[], dict[str, int]]:
    return lambda: repeated_passages(path, f"{path}.out.jsonl", overwrite=True).to_dict()
