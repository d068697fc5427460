"""Answers the questions of `winnow similar --batch`: as one JSON object, in a file, or as a line for each question."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import click

from opensearch_winnow.answers.asking.batch_document import ANSWER_COLUMNS, answer_document, answer_rows
from opensearch_winnow.answers.asking.similar_words import below_guarantee_sentence
from opensearch_winnow.answers.asking.too_short import TOO_SHORT
from opensearch_winnow.answers.display_text import one_line, shorten, shorten_middle, width
from opensearch_winnow.answers.formatting import count_of, duration, scored_percent
from opensearch_winnow.cli.asking.match_table import HEADS, score
from opensearch_winnow.cli.phase_progress import show_phases
from opensearch_winnow.cli.terminal import Terminal, remark, say, terminal
from opensearch_winnow.cli.text_file import read_text
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.rows import FailedRow, FieldNames
from opensearch_winnow.ingest.rows.row_files import RowFiles
from opensearch_winnow.queries.asking.matches import Matches
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.record_files.answer_table import AnswerTable

MAX_NAMED = 10  # questions that could not be answered, of which the messages tell; the output has all
PHASE = "Asking questions"
MAX_QUESTION_COLUMNS = 40

RowQuestion = Page | dict[str, Any]


class AnsweredQuestion(NamedTuple):
    """A question, by its name, and its answer."""

    name: str
    answer: Matches | QuestionError


@dataclass(slots=True)
class Counts:
    """The outcomes of the questions so far."""

    questions: int = 0
    found: int = 0
    failed: int = 0
    below_guarantee: int = 0
    too_short: int = 0
    matches: int = 0
    named: list[str] = field(default_factory=list)  # the first that could not be answered, with the reasons

    def add(self, answered: AnsweredQuestion) -> None:
        self.questions += 1
        if isinstance(answered.answer, QuestionError):
            self.failed += 1
            if len(self.named) < MAX_NAMED:
                self.named.append(f"{answered.name}: {answered.answer}")
            return
        self.found += bool(answered.answer.matches)
        self.matches += len(answered.answer)
        self.too_short += answered.answer.too_short
        self.below_guarantee += answered.answer.below_guarantee and not answered.answer.too_short

    def document(self) -> dict[str, int]:
        return {
            "questions": self.questions,
            "found": self.found,
            "failed": self.failed,
            "below_guarantee": self.below_guarantee,
            "too_short": self.too_short,
        }


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
    index: Index,
    questions: Iterable[RowQuestion],
    options: SimilarOptions,
    *,
    to: str | None,
    as_json: bool,
    color: str,
    quiet: bool = False,
) -> Counts:
    """Ask all questions, and write or print each answer as soon as it is there."""
    counts, start = Counts(), time.monotonic()
    screen = None if to or as_json else terminal(color)
    with show_phases(quiet=quiet or screen is not None, color=color) as show:
        answers = _answers(index, questions, options, counts, show)
        if to is not None:
            _write(Path(to), answers)
        elif as_json:
            _print_json(answers, counts)
        elif screen:
            _print_table(screen, answers)
        else:
            _print_rows(answers)
    if to is not None and as_json:
        click.echo(json.dumps(counts.document() | {"to": to}))
    _say_summary(counts, index, time.monotonic() - start, to)
    return counts


def _answers(
    index: Index, questions: Iterable[RowQuestion], options: SimilarOptions, counts: Counts, show: Progress
) -> Iterator[AnsweredQuestion]:
    for question, answer in index.similar_batch(questions, **options.keywords()):
        if isinstance(question, Page):
            answered = AnsweredQuestion(question.url, answer)
        elif "url" in question:
            answered = AnsweredQuestion(question["url"], answer)
        else:
            answered = AnsweredQuestion(question["name"], QuestionError(question["reason"]))
        counts.add(answered)
        show(PHASE, counts.questions, None)
        yield answered


def _write(target: Path, answers: Iterable[AnsweredQuestion]) -> None:
    """Write the answers: JSON lines have one for each question, a table a row for each match."""
    with AnswerTable(target, ANSWER_COLUMNS, overwrite=True) as table:
        for each in answers:
            if table.is_json:
                table.add_object(answer_document(*each))
            else:
                for row in answer_rows(*each):
                    table.add(*row.values())


def _print_json(answers: Iterable[AnsweredQuestion], counts: Counts) -> None:
    """Print one object, an answer at a time: all of them may be more than fits in memory."""
    sys.stdout.write('{"answers": [')
    for number, each in enumerate(answers):
        sys.stdout.write(f"{', ' * bool(number)}{json.dumps(answer_document(*each))}")
    sys.stdout.write(f"], {json.dumps(counts.document())[1:]}\n")


def _print_rows(answers: Iterable[AnsweredQuestion]) -> None:
    """Print tab-separated values for programs: a line for each question, with its best match."""
    sys.stdout.write("question\tmatches\tresemblance\tcontainment\tcontained\turl\treason\n")
    for name, answer in answers:
        cells = ["", "", "", "", "", str(answer)]
        if not isinstance(answer, QuestionError):
            best = next(iter(answer), None)
            scores = (best.resemblance, best.containment, best.contained) if best else ()
            cells = [str(answer.total), *(f"{each:.6g}" for each in scores), *("",) * (3 - len(scores))]
            cells += [one_line(best.url) if best else "", TOO_SHORT if answer.too_short and not best else ""]
        sys.stdout.write("\t".join([one_line(name), *cells]) + "\n")


def _print_table(screen: Terminal, answers: Iterable[AnsweredQuestion]) -> None:
    """Print a line for each question: the score and the URL of its best match, and how many matches there are."""
    columns = min(max(screen.columns // 3, 12), MAX_QUESTION_COLUMNS)
    for number, (name, answer) in enumerate(answers):
        if number == 0:
            head = "score" if isinstance(answer, QuestionError) else HEADS[answer.score]
            screen.echo(screen.paint(f"{head:<11}  matches  {'question (A)':<{columns}}  best page (B)", "dim"))
        best, cells = "–", f"{'–':>11}  {'–':>7}"
        if isinstance(answer, QuestionError):
            best = str(answer)
        elif answer.matches:
            first = answer[0]
            share = scored_percent(score(first, answer.score), first.kind, first.error)
            best, cells = first.url, f"{share:>11}  {answer.total:>7,}"
        elif answer.too_short:
            best = TOO_SHORT
        else:
            cells = f"{'–':>11}  {0:>7}"
        question = shorten(one_line(name), columns)
        room = max(screen.columns - len(cells) - columns - 4, 10)
        padding = " " * (columns - width(question))
        screen.echo(f"{cells}  {question}{padding}  {shorten_middle(one_line(best), room)}")


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
