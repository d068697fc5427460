"""winnow fields: add winnow's fields to documents on their way to an index."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunOutput
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.phase_progress import Stopped
from opensearch_winnow.cli.terminal import remark, say
from opensearch_winnow.cli.text_file import STDIN, label, opened_file, require_piped_stdin
from opensearch_winnow.clusters.options import RunSettings
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.option_kinds import FLAG, path
from opensearch_winnow.foundation.options import Options, option, option_of
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.scheme_choice import SchemeChoice
from opensearch_winnow.ingest.own_index.fields_options import FieldsOptions

if TYPE_CHECKING:
    from opensearch_winnow.ingest.own_index.fields_filter import Failure, FieldsReport

MAX_FAILURES_NAMED = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldsOutput(Options):
    """The options for the output of documents."""

    mapping: bool = option(False, FLAG, "Print the mapping of the fields for PUT INDEX/_mapping, and exit.")
    to: str | None = option(
        None,
        path("OUT", "file"),
        "Write to this file, compressed if it ends with .gz or .zst. It appears when it is complete.",
        unset="stdout",
    )
    failed: str | None = option(
        None,
        path("OUT", "file"),
        "Write documents that cannot be read to this file.",
        unset="with the others, as they are",
    )
    overwrite: bool = option_of(RunSettings, "overwrite")

    def check(self, inputs: Sequence[str]) -> None:
        """Refuse files that may not be written."""
        outputs = {flag: name for flag, name in (("--to", self.to), ("--failed", self.failed)) if name}
        check_files(outputs, [Path(name) for name in inputs if name != STDIN])
        for name in outputs.values():
            check_output(Path(name), overwrite=self.overwrite)


@click.command("fields", cls=DescribedCommand, short_help="Add winnow's fields to JSON lines, or to a _bulk body.")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(allow_dash=True))
@declared_options(FieldsOptions, "options")
@declared_options(FieldsOutput, "out")
@declared_options(SchemeChoice, "choice")
@key_file_option
@declared_options(RunOutput, "output")
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    options: FieldsOptions,
    out: FieldsOutput,
    choice: SchemeChoice,
    output: RunOutput,
) -> None:
    """\b
    Examples:
      winnow fields < docs.jsonl > docs-with-fields.jsonl
      winnow fields docs.jsonl.gz --text headline --text body --to ready.jsonl.gz
      winnow fields --bulk --text body < bulk.ndjson |
        curl -sH 'Content-Type: application/x-ndjson' --data-binary @- localhost:9200/articles/_bulk
      tail -f articles.jsonl | winnow fields --text body
      winnow fields --mapping |
        curl -sX PUT -H 'Content-Type: application/json' -d @- localhost:9200/articles/_mapping

    Adds fingerprints, sketches and digests to documents before any program writes them to an index. Each document is a
    JSON object on a line of its own, in FILE or on stdin, also compressed. They come out in the same order, each with
    one more field, `winnow`, and otherwise as they were, byte for byte. Each is written as soon as it is read.

    In a _bulk body, the documents of index and create get fields, and so do those of update that have all of the text
    fields. If an update has only some of them, its document keeps the old fields until winnow attach --update.

    The index needs the mapping that --mapping prints. An attached index has it already, and winnow attach --update
    keeps the hashes, provided that the scheme is the same.

    A line that is not a JSON object is named on stderr and stays in its place. Exit code 1 if there was one, or if no
    document has a text.
    """
    if out.mapping:
        click.echo(json.dumps({"properties": options.fields.properties()}))
        return
    # Imported here, because they need an extra, and the list of commands does not.
    from opensearch_winnow.ingest.own_index.fields_filter import FieldsFilter  # noqa: PLC0415
    from opensearch_winnow.ingest.own_index.fields_maker import FieldsMaker  # noqa: PLC0415

    if output.json and not out.to:
        raise click.UsageError("--json and the documents both want stdout: add --to OUT")
    names = files or (STDIN,)
    for name in names:
        require_piped_stdin(ctx, ctx.command.params[0], name)
    out.check(names)
    maker = FieldsMaker(options.fields, with_key(choice.scheme or Scheme()), options.date_format)
    filtering = FieldsFilter(maker, bulk=options.bulk, id_field=options.id or "", keep_failed=out.failed is None)
    told = count()

    def tell(name: str, failure: Failure) -> None:
        if next(told) < MAX_FAILURES_NAMED:
            say(f"{'' if name == label(STDIN) else f'{name}, '}line {failure.number:,}: {failure.reason}")

    try:
        with ExitStack() as opened:
            show = opened.enter_context(output.progress(quiet=out.to is None))
            good: IO[bytes] = opened.enter_context(open_new(Path(out.to))) if out.to else sys.stdout.buffer
            bad = opened.enter_context(open_new(Path(out.failed))) if out.failed else None
            inputs = ((label(name), opened_file(name)) for name in names)
            report = filtering.write(inputs, good, bad, at_once=out.to is None, tell=tell, progress=show)
    except Stopped:
        if out.to:
            say("Stopped: nothing was written.")
        raise
    output.show(report, ())
    for sentence in remarks(report, options, out):
        say(sentence)
    is_expected = (out.to and not output.json) or report.no_text or report.failed
    (say if is_expected else remark)(summary(report))
    if report.failed:
        end(SOME_FAILED)
    if report.no_text and not report.done:
        end(NOTHING_FOUND)


def remarks(report: FieldsReport, options: FieldsOptions, out: FieldsOutput) -> Iterator[str]:
    """Yield messages about documents without fields, or with old ones; none if all documents have fields."""
    if report.failed:
        where = f"written to {out.failed}" if out.failed else "passed on without fields"
        yield f"{count_of(report.failed, 'document')} that cannot be read: {where}"
    if options.bulk and report.failed == report.documents > 0:
        yield "Is this a _bulk body? For JSON lines, leave out --bulk."
    if report.partial:
        some = count_of(report.partial, "update has", "updates have")
        yield f"{some} only some of the text fields: these documents keep the fields of their old texts."
    if report.times_unread:
        have = count_of(report.times_unread, "document has", "documents have")
        yield (
            f"{have} a time in {options.time} that cannot be read, or cannot be right: --time-format names its format"
        )
    if report.no_text and not report.done:
        yield f"No document has a text in {' or '.join(options.text)}: name the field with --text"


def summary(report: FieldsReport) -> str:
    updates = report.unaffected + report.partial
    others = f", {count_of(updates, 'update')} of other fields" if updates else ""
    return (
        f"{count_of(report.documents, 'document')}: {report.done:,} with fields, {report.no_text:,} without text,"
        f" {report.failed:,} failed{others}; scheme {report.scheme}"
    )
