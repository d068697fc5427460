"""Passages of an evaluation set planted in real training rows: how many are found after each edit, and at what cost.

The evaluation rows are parts of web pages, the training rows parts of a manual.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks import corpus
from benchmarks.crawled_pages import public_html
from benchmarks.table import Run, Table, percent, times
from benchmarks.timing import alternate
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.word_runs import WordRuns
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.operations.sets.contamination import contaminated
from opensearch_winnow.queries.sets.passage_index import PassageIndex

ROWS = 5_000
ROW_CHARACTERS = 2_000
EVALUATION_ROWS = 2_000
EVALUATION_WORDS = 60
ROUNDS = 9
PLANTED = 100  # passages of each length and edit, each in a row of its own
LENGTHS = (8, 13, 20, 50)
MIN_WORDS = (13, 8)
WEB_PAGES = "wcxb-dev350"
FENCE = "zyxwv"  # around a passage: its neighbours must not happen to be the words that continue it
WORD = re.compile(r"[^\W_]+")

FIND = "`PassageIndex.find`"
ALL = "all of it: `contaminated`"
EVALUATION = "the evaluation set alone"

Edit = Callable[[list[str], Random], str]


def wrapped(words: list[str], random: Random) -> str:
    return "".join(word + random.choice((" ", "\n", "\n    ", "\t", "\u00a0")) for word in words)


def punctuated(words: list[str], random: Random) -> str:
    return "".join(word + random.choice((" ", ", ", "; ", " – ", "... ", " (", "”, “")) for word in words)


def changed(words: list[str], random: Random) -> str:
    i = random.randrange(len(words))
    return " ".join([*words[:i], "otherwise", *words[i + 1 :]])


def swapped(words: list[str], random: Random) -> str:
    i = random.randrange(len(words) - 1)
    return " ".join([*words[:i], words[i + 1], words[i], *words[i + 2 :]])


def inserted(words: list[str], random: Random) -> str:
    i = random.randrange(1, len(words))
    return " ".join([*words[:i], "indeed", *words[i:]])


EDITS: dict[str, Edit] = {
    "unedited": lambda words, _: " ".join(words),
    "wrapped anew": wrapped,
    "in capitals": lambda words, _: " ".join(words).upper(),
    "punctuated anew": punctuated,
    "one word changed": changed,
    "two words swapped": swapped,
    "one word inserted": inserted,
}


class Planted(NamedTuple):
    row: int
    question: str  # the id of the evaluation row
    edit: str
    length: int


class Sets(NamedTuple):
    train: list[str]
    questions: list[str]
    planted: list[Planted]


def tables(run: Run) -> Iterator[Table]:
    sets = planted_sets(run)
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        train, against = written(folder, "train.jsonl", sets.train), written(folder, "evals.jsonl", sets.questions)
        checked = []
        for least in MIN_WORDS:
            result = contaminated(train, against, words=least)
            found = {(row.row, each.id) for row in result.found for each in row.evaluation_rows}
            yield recall_table(sets, least, found)
            checked.append(checked_rows(sets, least, {row.row for row in result.found}))
        yield Table(
            "Reported rows, beside all that share a run of that length",
            ("words", "rows", "reported", "share a run", "in one list only", "reported without a planted passage"),
            checked,
            "Which rows share a run was computed by other code: sets of tuples of words in plain Python.",
        )
    yield cost_table(sets)


def planted_sets(run: Run) -> Sets:
    random = Random(5)
    planted_each = run.size(PLANTED, least=1)
    rows = max(run.size(ROWS, least=60), 2 * planted_each * len(EDITS) * len(LENGTHS))
    text = corpus.text(rows * ROW_CHARACTERS)
    train = [text[start : start + ROW_CHARACTERS] for start in range(0, len(text), ROW_CHARACTERS)][:rows]
    questions = list(islice(evaluation_rows(), run.size(EVALUATION_ROWS, least=40)))
    chosen = iter(random.sample(range(len(train)), planted_each * len(EDITS) * len(LENGTHS)))
    planted = []
    for edit, length in ((edit, length) for edit in EDITS for length in LENGTHS for _ in range(planted_each)):
        question, row = random.randrange(len(questions)), next(chosen)
        words = WORD.findall(questions[question])
        start = random.randrange(len(words) - length + 1)
        passage = EDITS[edit](words[start : start + length], random)
        offset = train[row].find(" ", random.randrange(ROW_CHARACTERS // 2)) + 1
        train[row] = f"{train[row][:offset]}{FENCE} {passage} {FENCE} {train[row][offset:]}"
        planted.append(Planted(row, str(question), edit, length))
    return Sets(train, questions, planted)


def evaluation_rows() -> Iterator[str]:
    """Yield parts of web pages, or of licences, of EVALUATION_WORDS words each; none of them twice."""
    seen = set()
    for page in corpus.packed(WEB_PAGES) if (corpus.DATA / WEB_PAGES).is_dir() else public_html():
        text = corpus.visible_text(page)
        words = [found.span() for found in WORD.finditer(text)]
        for first in range(0, len(words) - EVALUATION_WORDS, EVALUATION_WORDS):
            part = text[words[first][0] : words[first + EVALUATION_WORDS - 1][1]]
            if part not in seen:
                seen.add(part)
                yield part


def written(folder: str, name: str, texts: Sequence[str]) -> Path:
    path = Path(folder, name)
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{json.dumps({'id': str(i), 'text': text})}\n" for i, text in enumerate(texts))
    return path


def recall_table(sets: Sets, least: int, found: set[tuple[int, str]]) -> Table:
    rows = []
    for edit in EDITS:
        cells = []
        for length in LENGTHS:
            some = [each for each in sets.planted if (each.edit, each.length) == (edit, length)]
            cells.append(percent(sum((each.row, each.question) in found for each in some) / len(some)))
        rows.append((edit, *cells))
    return Table(
        f"Passages found with --words {least}",
        ("", *(f"{length} words" for length in LENGTHS)),
        rows,
        f"{len(sets.planted):,} passages, each in one of {len(sets.train):,} training rows; {len(sets.questions):,}"
        " evaluation rows. Found: the training row is reported with the evaluation row that the passage is from.",
    )


def grams(text: str, least: int) -> Iterator[tuple[str, ...]]:
    words = WORD.findall(text.casefold())
    return zip(*(words[start:] for start in range(least)), strict=False)


def checked_rows(sets: Sets, least: int, reported: set[int]) -> tuple[str, ...]:
    known = set(chain.from_iterable(grams(text, least) for text in sets.questions))
    share = {row for row, text in enumerate(sets.train) if not known.isdisjoint(grams(text, least))}
    others = reported - {each.row for each in sets.planted}
    numbers = (least, len(sets.train), len(reported), len(share), len(reported ^ share), len(others))
    return tuple(f"{number:,}" for number in numbers)


def cost_table(sets: Sets) -> Table:
    """Measure rows without planted passages: nearly all rows of a real set are such."""
    planted = {each.row for each in sets.planted}
    texts = [text for row, text in enumerate(sets.train) if row not in planted]
    index = PassageIndex(sets.questions)
    canonical = [canonical_text(text) for text in texts]
    runs = WordRuns(map(canonical_text, sets.questions), index.words, index.shortest)
    known = set(chain.from_iterable(grams(text, index.words) for text in sets.questions))
    with TemporaryDirectory(prefix="winnow-bench-") as folder:
        train, against = written(folder, "train.jsonl", texts), written(folder, "evals.jsonl", sets.questions)
        nothing = written(folder, "none.jsonl", [])
        seconds = alternate(
            {
                "read the row from JSON lines": lambda: read_all(train),
                "canonical text": lambda: [canonical_text(text) for text in texts],
                "hash the words, look up the windows": lambda: [runs.find(text) for text in canonical],
                FIND: lambda: [index.find(text) for text in texts],
                ALL: lambda: contaminated(train, against),
                EVALUATION: lambda: contaminated(nothing, against),
                "sets of tuples of words in plain Python": lambda: [
                    known.isdisjoint(grams(text, index.words)) for text in texts
                ],
            },
            ROUNDS,
        )
    seconds[ALL] -= seconds[EVALUATION]
    per_question = 1e6 * seconds.pop(EVALUATION) / len(sets.questions)
    rows = [(name, f"{1e6 * each / len(texts):.1f}", times(each / seconds[FIND])) for name, each in seconds.items()]
    return Table(
        f"CPU time for a training row of {ROW_CHARACTERS:,} characters",
        ("", "µs", f"compared with {FIND}"),
        rows,
        f"{len(texts):,} rows without planted passages; best of {ROUNDS} rounds, in one thread. Reading and indexing an"
        f" evaluation row of {EVALUATION_WORDS} words takes {per_question:.0f} µs besides. {corpus.source()}",
    )


def read_all(path: Path) -> None:
    with RowFiles([str(path)]) as files:
        for _ in files.rows():
            pass
