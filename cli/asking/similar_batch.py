"""Answers the questions of `winnow similar --batch`: as one JSON object, in a file, or as a line for each question."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from opensearch_winnow.answers.asking.answered_question import AnsweredQuestion, BatchRow
from opensearch_winnow.answers.asking.similar_words import below_guarantee_sentence
from opensearch_winnow.answers.asking.too_short import TOO_SHORT
from opensearch_winnow.answers.display_text import one_line, shorten, shorten_middle, width
from opensearch_winnow.answers.formatting import count_of, duration
from opensearch_winnow.answers.tables import write_table
from opensearch_winnow.cli.asking.match_table import HEADS, best_scores
from opensearch_winnow.cli.options.answer_output import JSON
from opensearch_winnow.cli.options.run_output import RunTableOutput
from opensearch_winnow.cli.terminal import Terminal, remark, say
from opensearch_winnow.cli.text_columns import left
from opensearch_winnow.cli.text_file import read_text
from opensearch_winnow.foundation.answer_keys import columns_of
from opensearch_winnow.foundation.answers import Answer, key
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows import FailedRow, FieldNames
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.record_files.answer_table import AnswerTable

MAX_NAMED = 10  # unanswered questions that messages name; the output has all
PHASE = "Asking questions"
MAX_QUESTION_COLUMNS = 40

RowQuestion = Page | dict[str, Any]


@dataclass(slots=True)
class Counts(Answer):
    """The outcomes of the questions so far."""

    questions: int = key("The number of questions.", default=0)
    found: int = key("The number of questions that found a page.", default=0)
    failed: int = key("The number of questions that could not be answered.", default=0)
    below_guarantee: int = key("The number of questions whose answer may miss a page.", default=0)
    too_short: int = key("The number of questions that are too short to be checked for copies.", default=0)
    named: list[str] = field(default_factory=list)  # the first unanswered questions, with the reasons

    def add(self, answered: AnsweredQuestion) -> None:
        self.questions += 1
        if answered.matches is None:
            self.failed += 1
            if len(self.named) < MAX_NAMED:
                self.named.append(f"{answered.name}: {answered.reason}")
            return
        self.found += bool(answered.matches)
        self.too_short += answered.matches.too_short
        self.below_guarantee += answered.matches.below_guarantee and not answered.matches.too_short


@contextmanager
def batch_questions(rows: str | None, urls: str | None, fields: FieldNames) -> Iterator[Iterable[RowQuestion]]:
    """Open the questions of a batch: the `rows` of a file or folder, or the `urls` in a file, one in each line."""
    if rows is None:
        lines = (line.strip() for line in read_text(str(urls)).splitlines())
        yield ({"url": line} for line in lines if line)
        return
    with RowFiles([rows], fields) as files:
        yield (
            {"name": row.where, "reason": row.reason} if isinstance(row, FailedRow) else row.page
            for row in files.rows()
        )


def answer_batch(
    index: Index, questions: Iterable[RowQuestion], options: SimilarOptions, output: RunTableOutput
) -> Counts:
    """Ask all questions, and write or print each answer as soon as it is ready."""
    counts, start, screen = Counts(), time.monotonic(), output.screen
    with output.progress(quiet=screen is not None) as show:
        answers = _answers(index, questions, options, counts, show)
        if output.to is not None:
            _write(Path(output.to), answers, counts)
        elif output.json:
            sys.stdout.writelines(_json_pieces(answers, counts))
        elif screen:
            _print_table(screen, answers)
        else:
            rows = (row for each in answers for row in each.rows())
            write_table(sys.stdout, BatchRow, rows, "," if output.csv else "\t")
    _say_summary(counts, index, time.monotonic() - start, output.to)
    return counts


def _answers(
    index: Index, questions: Iterable[RowQuestion], options: SimilarOptions, counts: Counts, show: Progress
) -> Iterator[AnsweredQuestion]:
    for question, answer in index.similar_batch(questions, **options.keywords()):
        if isinstance(question, Page):
            answered = AnsweredQuestion.of(question.url, answer)
        elif "url" in question:
            answered = AnsweredQuestion.of(question["url"], answer)
        else:
            answered = AnsweredQuestion(question["name"], question["reason"], None)
        counts.add(answered)
        show(PHASE, counts.questions, None)
        yield answered


def _write(target: Path, answers: Iterable[AnsweredQuestion], counts: Counts) -> None:
    """Write the answers: all of them as one object, JSON lines with one for each question, or a row for each match."""
    if target.name.lower().endswith(JSON):
        with open_new(target) as file:
            file.writelines(piece.encode() for piece in _json_pieces(answers, counts))
        return
    columns = columns_of(BatchRow)
    with AnswerTable(target, {each.name: each.type for each in columns}, overwrite=True) as table:
        for answered in answers:
            if table.is_json:
                table.add_object(answered.to_dict())
            else:
                for row in answered.rows():
                    table.add(*(each.cell(row) for each in columns))


def _json_pieces(answers: Iterable[AnsweredQuestion], counts: Counts) -> Iterator[str]:
    """Yield one object, an answer at a time: all answers together may not fit in memory."""
    yield '{"answers": ['
    for number, each in enumerate(answers):
        yield f"{', ' * bool(number)}{json.dumps(each.to_dict())}"
    yield f"], {json.dumps(counts.to_dict())[1:]}\n"


def _print_table(screen: Terminal, answers: Iterable[AnsweredQuestion]) -> None:
    """Print a line for each question: the score of its best match, the number of matches, and the best match's URL."""
    columns = min(max(screen.columns // 3, 12), MAX_QUESTION_COLUMNS)
    for number, each in enumerate(answers):
        found = each.matches
        if number == 0:
            head = "score" if found is None else HEADS[found.score]
            screen.echo(screen.paint(f"{head:<11}  matches  {'question (A)':<{columns}}  best page (B)", "dim"))
        share, best = (best_scores(found)[0], found[0].url) if found else ("–", each.reason or "–")
        total = "–" if found is None or each.reason else f"{found.total:,}"
        cells = f"{share:>11}  {total:>7}  {left(shorten(one_line(each.name), columns), columns)}  "
        screen.echo(cells + shorten_middle(one_line(best), max(screen.columns - width(cells), 10)))


def _say_summary(counts: Counts, index: Index, seconds: float, to: str | None) -> None:
    for each in counts.named:
        say(f"Not answered: {each}")
    if counts.failed > len(counts.named):
        say(f"and {counts.failed - len(counts.named):,} more that could not be answered: the answers say why")
    if counts.too_short:
        say(
            f"{count_of(counts.too_short, 'question is', 'questions are')} {TOO_SHORT}, with fewer than"
            f" {index.scheme.noise:,} {'tokens' if index.scheme.form == 'code' else 'letters and digits'}"
        )
    if counts.below_guarantee:
        say(f"{count_of(counts.below_guarantee, 'question')}: {below_guarantee_sentence(index.scheme)}")
    summary = f"{counts.found:,} of {count_of(counts.questions, 'question')} found a page"
    if counts.failed:
        summary += f", {counts.failed:,} could not be answered"
    where = f": {to}" if to else ""
    (say if to else remark)(f"{summary} · {duration(seconds)}{where}")
