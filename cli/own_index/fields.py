"""winnow fields: add winnow's fields to documents on their way to an index."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import NOTHING_FOUND, SOME_FAILED
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options import scheme_options as choose
from opensearch_winnow.cli.options.run_options import overwrite_option, quiet_option
from opensearch_winnow.cli.output_files import check_files
from opensearch_winnow.cli.phase_progress import Stopped, show_phases
from opensearch_winnow.cli.terminal import json_option, remark, say
from opensearch_winnow.cli.text_file import STDIN, label, opened_file, require_piped_stdin
from opensearch_winnow.foundation.atomic_file import check_output
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.packed import open_new
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.own_index.date_format import USUAL_FORMAT, DateFormat
from opensearch_winnow.ingest.sources.unpacked import DamagedError, unpacked_stream
from opensearch_winnow.mappings.attached_fields import AttachedFields

if TYPE_CHECKING:
    from opensearch_winnow.ingest.own_index.fields_filter import Failure, FieldsFilter, Piece

MAX_FAILURES_NAMED = 10
COUNTED = ("documents", "done", "no_text", "unaffected", "partial", "failed", "times_unread")


@click.command("fields", short_help="Add winnow's fields to JSON lines, or to a _bulk body.")
@click.argument("files", metavar="[FILE]...", nargs=-1, type=click.Path(allow_dash=True))
@click.option(
    "--text",
    metavar="FIELD",
    multiple=True,
    default=("text",),
    show_default=True,
    help="Field with the text, such as content.body. Several are joined; may be repeated.",
)
@click.option("--html", is_flag=True, help="The text is HTML; fingerprint the visible text.")
@click.option("--url", metavar="FIELD", help="Field with the address of a page.  [default: the _id, if it is known]")
@click.option("--time", "time_field", metavar="FIELD", help="Field with the time of a page.")
@click.option(
    "--time-format",
    metavar="FORMAT",
    default=USUAL_FORMAT,
    show_default=True,
    help="The format of the time, as the mapping of the index has it.",
)
@click.option(
    "--id",
    "id_field",
    metavar="FIELD",
    help="Field with the _id of a document, which is its cluster until documents are clustered. A _bulk body tells it.",
)
@click.option(
    "--below",
    metavar="NAME",
    default="winnow",
    show_default=True,
    help="Name of the object field that gets winnow's fields.",
)
@click.option("--bulk", is_flag=True, help="The input is a _bulk body: a line with an action before each document.")
@click.option("--mapping", is_flag=True, help="Print the mapping of the fields for PUT INDEX/_mapping, and exit.")
@click.option(
    "--to",
    metavar="OUT",
    type=click.Path(dir_okay=False),
    help="Write to this file, compressed if it ends with .gz or .zst. It appears when it is complete."
    "  [default: stdout]",
)
@click.option(
    "--failed",
    metavar="OUT",
    type=click.Path(dir_okay=False),
    help="Write documents that cannot be read to this file.  [default: with the others, as they are]",
)
@overwrite_option
@choose.scheme_options(choose.noise, choose.guarantee, choose.preset, choose.selection, choose.fold_confusables)
@key_file_option
@quiet_option
@json_option
@click.pass_context
def command(
    ctx: click.Context,
    files: tuple[str, ...],
    text: tuple[str, ...],
    html: bool,
    url: str | None,
    time_field: str | None,
    time_format: str,
    id_field: str | None,
    below: str,
    bulk: bool,
    mapping: bool,
    to: str | None,
    failed: str | None,
    overwrite: bool,
    scheme: Scheme,
    quiet: bool,
    as_json: bool,
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
    one more field, `winnow`, and otherwise as they were, byte for byte. What can be read is written at once.

    In a _bulk body, the documents of index and create get fields, and so do those of update that have all of the text
    fields. If an update has only some of them, its document keeps the old fields: winnow attach --update notices.

    The index needs the mapping that --mapping prints. If it is attached, it has it, and winnow attach --update takes
    the hashes as they are, provided that the scheme is the same.

    A line that is no JSON object is named on stderr and stays in its place. Exit code 1 if there was one, or if no
    document has a text.
    """
    if "." in below or not below.strip():
        raise click.UsageError(f"--below is a plain name, such as winnow, not {below!r}", ctx)
    if bulk and id_field:
        raise click.UsageError("--id is for JSON lines: a _bulk body has the _id in its actions", ctx)
    fields = AttachedFields(text=text, url=url, time=time_field, html=html, below=below)
    written = DateFormat(time_format)
    if written.unknown:
        raise click.UsageError(f"--time-format: winnow does not know {' or '.join(written.unknown)}", ctx)
    if mapping:
        click.echo(json.dumps({"properties": fields.properties()}))
        return
    # Imported here, because they need an extra, and the list of commands does not.
    from opensearch_winnow.ingest.own_index.document_fields import DocumentFields  # noqa: PLC0415
    from opensearch_winnow.ingest.own_index.fields_filter import FieldsFilter  # noqa: PLC0415

    if as_json and not to:
        raise click.UsageError("--json and the documents both want stdout: add --to OUT", ctx)
    for name in files or (STDIN,):
        require_piped_stdin(ctx, ctx.command.params[0], name)
    outputs = {option: name for option, name in (("--to", to), ("--failed", failed)) if name}
    check_files(outputs, [Path(name) for name in files if name != STDIN])
    for name in outputs.values():
        check_output(Path(name), overwrite=overwrite)
    filtering = FieldsFilter(
        DocumentFields(fields, scheme, written), bulk=bulk, id_field=id_field or "", keep_failed=failed is None
    )
    try:
        counts = run(filtering, files or (STDIN,), to, failed, quiet=quiet or to is None)
    except Stopped:
        if to:
            say("Stopped: nothing was written.")
        raise
    counts["times_unread"] = filtering.maker.times_unread
    report(counts, fields, failed, filtering.maker.scheme, bulk=bulk, as_json=as_json, to=to)
    if counts["failed"]:
        ctx.exit(SOME_FAILED)
    if counts["no_text"] and not counts["done"]:
        ctx.exit(NOTHING_FOUND)


def run(
    filtering: FieldsFilter, files: Sequence[str], to: str | None, failed: str | None, *, quiet: bool
) -> Counter[str]:
    """Filter all files, and return how many documents became what."""
    counts: Counter[str] = Counter()
    with ExitStack() as opened:
        show = opened.enter_context(show_phases(quiet=quiet, color="auto"))
        out = opened.enter_context(open_new(Path(to))) if to else sys.stdout.buffer
        bad = opened.enter_context(open_new(Path(failed))) if failed else None
        ends_line = True
        for name in files:
            for piece in pieces(filtering, name):
                if piece.output and not ends_line:
                    out.write(b"\n")
                out.write(piece.output)
                if to is None:
                    out.flush()
                # Between two files; within one, only the last line may have no line break.
                ends_line = not piece.output or piece.output.endswith(b"\n")
                counts += piece.counts
                for each in piece.failures:
                    note_failure(name, each, counts, bad)
                show("adding fields", counts["documents"], None)
    return counts


def note_failure(name: str, failure: Failure, counts: Counter[str], bad: IO[bytes] | None) -> None:
    """Name a document that got no fields, and write it to the file for these, if there is one."""
    if failure.reason:
        counts["failed"] += 1
        if counts["failed"] <= MAX_FAILURES_NAMED:
            say(f"{'' if name == STDIN else f'{name}, '}line {failure.number:,}: {failure.reason}")
    if bad is not None:
        bad.write(failure.lines)
        if not failure.lines.endswith(b"\n") and failure.reason:
            bad.write(b"\n")


def pieces(filtering: FieldsFilter, name: str) -> Iterator[Piece]:
    """Yield the documents of a file, or of stdin, with their fields."""
    with opened_file(name) as file:
        try:
            yield from filtering.pieces(unpacked_stream(file))
        except DamagedError as error:
            raise FileError(f"{label(name)} cannot be read to its end: {error}") from None


def report(
    counts: Counter[str],
    fields: AttachedFields,
    failed: str | None,
    scheme: Scheme,
    *,
    bulk: bool,
    as_json: bool,
    to: str | None,
) -> None:
    """Print what became of the documents. In a pipe where all of them have fields, a script hears nothing."""
    if as_json:
        click.echo(json.dumps({"scheme": scheme.id, **{name: counts[name] for name in COUNTED}}))
    if counts["failed"]:
        where = f"written to {failed}" if failed else "passed on without fields"
        say(f"{count_of(counts['failed'], 'document')} that cannot be read: {where}")
    if bulk and counts["failed"] == counts["documents"] > 0:
        say("Is this a _bulk body? For JSON lines, leave out --bulk.")
    if counts["partial"]:
        some = count_of(counts["partial"], "update has", "updates have")
        say(f"{some} only some of the text fields: the fields of these documents are those of their old texts.")
    if counts["times_unread"]:
        have = count_of(counts["times_unread"], "document has", "documents have")
        say(f"{have} a time in {fields.time} that cannot be read, or cannot be right: --time-format names its format")
    if counts["no_text"] and not counts["done"]:
        say(f"No document has a text in {' or '.join(fields.text)}: name the field with --text")
    is_expected = (to and not as_json) or counts["no_text"] or counts["failed"]
    (say if is_expected else remark)(summary(counts, scheme))


def summary(counts: Counter[str], scheme: Scheme) -> str:
    updates = counts["unaffected"] + counts["partial"]
    others = f", {count_of(updates, 'update')} of other fields" if updates else ""
    return (
        f"{count_of(counts['documents'], 'document')}: {counts['done']:,} with fields, {counts['no_text']:,} without"
        f" text, {counts['failed']:,} failed{others}; scheme {scheme.id}"
    )
