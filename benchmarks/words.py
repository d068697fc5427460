"""Words of titles and texts: the text index of the embedded store compared with SQLite's FTS5, over the same pages."""

from __future__ import annotations

import sqlite3
import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from benchmarks.generated_pages import generated_pages
from benchmarks.store_cost import sets
from benchmarks.table import Run, Table, times
from opensearch_winnow.cython_core.best_scores import best
from opensearch_winnow.cython_core.word_tokens import word_tokens
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.mappings.sqlite_schema import PAGE_SIZE, SECOND_FORMAT
from opensearch_winnow.queries.words import Words
from opensearch_winnow.stores.embedded.file import CONNECTION
from opensearch_winnow.stores.embedded.search import find
from opensearch_winnow.stores.embedded.text_index import TextIndex

REAL = 3_000  # pages of each set
GENERATED = 100_000
AT_ONCE = 500  # pages in a transaction
QUESTIONS = 40  # of each kind
COMMON = 12  # words that are called so
SHOWN = 10
# With as much memory for words that are not written yet as served it best.
FTS5 = """
CREATE VIRTUAL TABLE words USING fts5 (title, text, content = '', tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO words (words, rank) VALUES ('hashsize', 33554432);
"""
OURS = "CREATE TABLE page (number INTEGER PRIMARY KEY, latest);" + SECOND_FORMAT

Text = tuple[str, str]  # title and text


class Question(NamedTuple):
    ours: Words
    fts5: str


class Both:
    """The two indexes, each in a file of its own."""

    def __init__(self, folder: Path) -> None:
        self.ours, self.fts5 = (_file(folder / name, tables) for name, tables in (("ours", OURS), ("fts5", FTS5)))
        self.pages = 0
        self.seconds = {"ours": 0.0, "fts5": 0.0}  # of CPU

    def add(self, texts: Iterable[Text]) -> None:
        texts = iter(texts)
        while some := list(islice(texts, AT_ONCE)):
            numbers = range(self.pages + 1, self.pages + 1 + len(some))
            self.pages += len(some)
            with self._timed("ours"):
                TextIndex(self.ours).add(numbers, *map(list, zip(*some, strict=True)))
            rows = [(number, *text) for number, text in zip(numbers, some, strict=True)]
            with self._timed("fts5"):
                self.fts5.executemany("INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", rows)

    def size(self, name: str) -> float:
        """Bytes of a page."""
        rows: sqlite3.Connection = getattr(self, name)
        (size,) = rows.execute(
            "SELECT (page_count - freelist_count) * page_size"
            " FROM pragma_page_count, pragma_freelist_count, pragma_page_size"
        ).fetchone()
        return float(size) / self.pages

    def ask_ours(self, question: Question) -> int:
        found = find(self.ours, question.ours, array("I"))
        if found.numbers:
            best(*found, min(SHOWN, len(found.numbers)))
        return len(found.numbers)

    def ask_fts5(self, question: Question) -> int:
        """By bm25(): with ORDER BY rank it takes longer."""
        rows = self.fts5.execute(
            f"SELECT rowid, bm25(words, 4.0, 1.0) AS score FROM words WHERE words MATCH ? ORDER BY score LIMIT {SHOWN}",
            (question.fts5,),
        )
        rows.fetchall()
        (total,) = self.fts5.execute("SELECT count(*) FROM words WHERE words MATCH ?", (question.fts5,)).fetchone()
        return int(total)

    @contextmanager
    def _timed(self, name: str) -> Iterator[None]:
        rows: sqlite3.Connection = getattr(self, name)
        start = time.process_time()
        rows.execute("BEGIN")
        yield
        rows.execute("COMMIT")
        self.seconds[name] += time.process_time() - start


def tables(run: Run) -> Iterator[Table]:
    costs = []
    for what, texts in corpora(run):
        with TemporaryDirectory(prefix="winnow-bench-") as folder:
            both = Both(Path(folder))
            with closing(both.ours), closing(both.fts5):
                sample: list[Text] = []
                both.add(_kept(texts, sample))
                yield questions_table(what, both, questions(sample, run.size(QUESTIONS, least=2)))
                costs.append(cost(what, both))
    yield Table(
        "What a page costs",
        ("", "CPU µs to write it, FTS5", "ours", "FTS5 / ours", "bytes, FTS5", "ours", "FTS5 / ours"),
        costs,
        f"{AT_ONCE} pages per transaction, in turns. Neither stores the texts themselves.",
    )


def corpora(run: Run) -> Iterator[tuple[str, Iterator[Text]]]:
    maker = RecordMaker(Recipe())
    made = (maker.make(page) for _, pages in sets(run.size(REAL, least=5)) for page in pages)
    yield "real pages", ((each.title or "", each.text) for each in made if isinstance(each, Record))
    yield "generated pages", (("", page.text or "") for page in generated_pages(0, run.size(GENERATED, least=50)))


def questions(sample: Sequence[Text], count: int) -> dict[str, list[Question]]:
    random = Random(7)
    texts = [words for _, text in sample if len(words := word_tokens(text)[0]) > SHOWN]
    often = Counter(word for words in texts for word in words)
    common = [word for word, _ in often.most_common(COMMON)]
    rare = [word for word, times in often.items() if times == 1]

    def pair() -> list[str]:
        words = random.choice(texts)
        start = random.randrange(len(words) - 1)
        return words[start : start + 2]

    def phrase() -> Question:
        words = " ".join(pair())
        return Question(Words.of(f'"{words}"'), f'"{words}"')

    def start() -> Question:
        word = pair()[0][:3]
        return Question(Words.of(f"{word}*"), f'"{word}" *')

    made: dict[str, Callable[[], Question]] = {
        "four common words, any of them": lambda: _any(random.sample(common, 4)),
        "four common words, all of them": lambda: _all(random.sample(common, 4)),
        "two words of a page": lambda: _all(random.sample(random.choice(texts), 2)),
        "a rare word": lambda: _all([random.choice(rare)]),
        "a phrase of two words": phrase,
        "the start of a word": start,
    }
    return {name: [make() for _ in range(count)] for name, make in made.items()}


def _all(words: Sequence[str]) -> Question:
    return Question(Words.of(" ".join(words)), " AND ".join(f'"{word}"' for word in words))


def _any(words: Sequence[str]) -> Question:
    return Question(Words.of(" ".join(words), any_word=True), " OR ".join(f'"{word}"' for word in words))


def questions_table(what: str, both: Both, asked: dict[str, list[Question]]) -> Table:
    rows = []
    count = min(map(len, asked.values()))
    for name, some in asked.items():
        seconds: dict[str, list[float]] = {"ours": [], "fts5": []}
        totals = []
        for question in some:
            for which, ask in (("fts5", both.ask_fts5), ("ours", both.ask_ours)):
                start = time.perf_counter()
                total = ask(question)
                seconds[which].append(time.perf_counter() - start)
                if which == "ours":
                    totals.append(total)
        ours, fts5 = median(seconds["ours"]), median(seconds["fts5"])
        rows.append((name, f"{median(totals):,.0f}", f"{fts5 * 1e3:.2f}", f"{ours * 1e3:.2f}", times(fts5 / ours)))
    return Table(
        f"{both.pages:,} {what}: milliseconds, p50",
        ("", "pages found, p50", "FTS5", "ours", "ours is faster by"),
        rows,
        f"Each query counts the pages and finds the {SHOWN} best, without reading them. {count} queries of each kind,"
        " in turns, wall-clock time.",
    )


def cost(what: str, both: Both) -> tuple[str, ...]:
    ours, fts5 = (both.seconds[name] / both.pages * 1e6 for name in ("ours", "fts5"))
    small, large = both.size("ours"), both.size("fts5")
    return (
        what,
        f"{fts5:.0f}",
        f"{ours:.0f}",
        times(fts5 / ours),
        f"{large:,.0f}",
        f"{small:,.0f}",
        times(large / small),
    )


def _kept(texts: Iterable[Text], sample: list[Text]) -> Iterator[Text]:
    """All of them, of which some are kept."""
    for number, text in enumerate(texts):
        if number % 20 == 0:
            sample.append(text)
        yield text


def _file(path: Path, tables: str) -> sqlite3.Connection:
    rows = sqlite3.connect(path, isolation_level=None)
    rows.executescript(f"PRAGMA page_size = {PAGE_SIZE}; PRAGMA journal_mode = WAL;{CONNECTION}{tables}")
    return rows
