"""Prints the counts of an indexing run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from opensearch_winnow.answers.display_text import Span, one_line
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.progress import pace
from opensearch_winnow.cli.terminal import remark, say, suggest
from opensearch_winnow.foundation.written_time import written_time
from opensearch_winnow.ingest.runs.report import Report
from opensearch_winnow.ingest.sources import FOLLOW_LINKS
from opensearch_winnow.ingest.sources.folder import LINK
from opensearch_winnow.operations.crawls.indexing import IndexingOptions

PROGRAM_TYPE = re.compile(r"type (?:text/(?!html|plain|css|csv)|application/(?:x-)?(?:javascript|python|perl|sh)\b)")
MEDIA_TYPE = re.compile(r"type (?:image/|audio/|video/|font/|text/css)")  # beside the pages of any saved site
OFFICE_TYPE = re.compile(r"type application/(?:pdf|zip|rtf|msword|vnd\.)")  # a .docx is a zip file
MAX_LINES = 5  # listed reasons per outcome, and listed damaged ranges


def first_words(report: Report) -> Iterator[str]:
    """Yield messages to print before the counts: the preset that the files decided, and that most were skipped."""
    if report.preset == "programs":
        yield "The files are programs: the new store has the preset programs, to compare them by their tokens"
    skipped = Counter({reason: n for reason, n in report.skipped_files.items() if not MEDIA_TYPE.match(reason)})
    files = report.files - report.skipped_files.total() + skipped.total()
    if 2 * skipped.total() > files:
        yield (
            f"{skipped.total():,} of {count_of(files, 'file')} {'was' if skipped.total() == 1 else 'were'} skipped:"
            f" {', '.join(f'{reason} {count:,}' for reason, count in skipped.most_common(MAX_LINES))}"
            f"{', …' if len(skipped) > MAX_LINES else ''}"
        )
        if any(PROGRAM_TYPE.match(reason) for reason in skipped):
            yield "To read programs, index them into a new store with --preset programs"
        if any(OFFICE_TYPE.match(reason) for reason in skipped):
            yield "PDF and office files are not read: convert them to text or HTML first"


def table(report: Report) -> Iterator[list[Span]]:
    """Yield a line for each outcome, with its most frequent reasons."""
    digits = len(f"{report.pages:,}")
    for name, count, reasons in report.outcomes():
        # Naming a single other reason takes no more room than "1 other reason".
        listed = MAX_LINES if len(reasons) > MAX_LINES + 1 else len(reasons)
        texts = [f"{reason} {number:,}" for reason, number in reasons.most_common(listed)]
        if others := reasons.most_common()[listed:]:
            texts.append(f"{len(others)} other reasons {sum(number for _, number in others):,}")
        if name == "indexed":
            texts = [f"equal to an earlier page: {', '.join(texts)}"] if texts else []
            texts += [f"stored before with other content: {report.replaced:,}"] if report.replaced else []
        line: list[Span] = [(f"{name:<9}  {count:>{digits},}", "plain")]
        yield [*line, ("  ", "plain"), (" · ".join(texts), "dim")] if texts else line
    yield [(f"{'pages':<9}  {report.pages:>{digits},}", "bold")]


def print_notes(report: Report, failed: Path, options: IndexingOptions) -> None:
    """Print warnings and hints about the pages."""
    if options.crawl and report.replaced_undated:
        replaced = count_of(report.replaced_undated, "page without a time", "pages without a time")
        say(f"{replaced} replaced what was stored for the same URL. To keep both crawls, give each its --date.")
    instead = f"with your --date, {written_time(options.date)}" if options.date else "without a date"
    if report.wrong_dates == 1:
        say(f"1 page has a date that cannot be right ({one_line(report.wrong_date)}), and is indexed {instead}.")
    elif report.wrong_dates:
        example = one_line(report.wrong_date)
        say(f"{report.wrong_dates:,} pages have dates that cannot be right, such as {example}: indexed {instead}.")
    if report.unfilled_revisits == 1:
        say("1 revisit has no text: the page that it repeats is not stored. Index the archive that has it, too.")
    elif report.unfilled_revisits:
        revisits = f"{report.unfilled_revisits:,} revisits have no text: the pages that they repeat"
        say(f"{revisits} are not stored. Index the archives that have them, too.")
    for each in report.damaged[:MAX_LINES]:
        say(f"{each.source}, at byte {each.offset:,}: {each.skipped:,} bytes could not be read ({each.reason})")
    if report.damaged_ranges > MAX_LINES:
        others = report.damaged_ranges - MAX_LINES
        say(f"{others:,} other places could not be read; {report.damaged_bytes:,} bytes in all")
    if links := report.skipped[LINK]:
        were = "was" if links == 1 else "were"
        say(f"Symbolic links in a folder are not followed, and {links:,} {were} skipped. {FOLLOW_LINKS} follows them.")
    if report.stopped:
        say("Stopped. What is done is kept; run the same command again to continue.")
    if report.failed:
        say(f"The failed pages are in {failed}. To try them again, index that file.")
    if any(reason.startswith("larger than") for reason in report.failed):
        say("It only names pages that are too large: index their source again with a larger --max-page-size.")


def print_findings(report: Report, problems: Sequence[str]) -> None:
    """Print the number of findings of the store's watches, and their problems."""
    if report.finding_count:
        found = count_of(report.finding_count, "finding")
        say(f"{found} for {count_of(report.finding_watches, 'watch', 'watches')}: winnow watch log")
    for name, reason in list(report.unanswered_watches.items())[:MAX_LINES]:
        say(f"Watch {name} was not checked: {reason}")
    if len(report.unanswered_watches) > MAX_LINES:
        say(f"{len(report.unanswered_watches) - MAX_LINES:,} other watches were not checked for such reasons")
    if report.incompletely_watched:
        pages = count_of(report.incompletely_watched, "page")
        say(f"{pages} shared text with more watches than a run compares; winnow watch check compares them all")
    for problem in problems:
        say(problem)


def print_end(report: Report, target: str, next_command: Sequence[str]) -> None:
    """Print the duration, and a command to run next."""
    remark(f"{target}: {pace(report)}, {report.seconds:,.1f} s")
    suggest(*next_command)
