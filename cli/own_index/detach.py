"""winnow detach: take away what winnow attach has added to an index."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cli.command_group import INTERRUPTED, NOTHING_FOUND, end
from opensearch_winnow.cli.command_help import DescribedCommand
from opensearch_winnow.cli.key_file_option import key_file_option
from opensearch_winnow.cli.options.declared_options import declared_options
from opensearch_winnow.cli.options.run_output import RunOutput
from opensearch_winnow.cli.options.store_option import STORE_VARIABLE
from opensearch_winnow.cli.phase_progress import Stopped
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.foundation.some_of import some_of
from opensearch_winnow.operations.own_index.attaching import detach

if TYPE_CHECKING:
    from opensearch_winnow.stores.opensearch.own_index.attach_reports import Detached

MAX_NAMED = 3  # indices that still need a part


@click.command("detach", cls=DescribedCommand, short_help="Take away what winnow attach has added to an index.")
@click.argument("index", metavar="http://HOST:9200/INDEX", envvar=STORE_VARIABLE)
@key_file_option
@declared_options(RunOutput, "output")
def command(index: str, output: RunOutput) -> None:
    """\b
    Examples:
      winnow detach http://localhost:9200/articles

    Removes winnow's fields from all documents, its part of templates, the store's settings (watches, boilerplate, the
    summary of the last clustering), and the scripts and the search pipeline, unless another index needs them. The
    mapping keeps the names of the fields, because engines cannot remove them; they are empty.

    INDEX may also be a copy of an attached index, such as a clone, a restored snapshot or the target of a reindex, or
    the name of an index that was deleted and has left its settings behind.

    Refuses while winnow attach or winnow cluster runs on the index. If such a run was killed on another machine, its
    lock expires after 60 seconds without a sign of life. A run that was stopped or killed is simply started again.

    Exit code 1 if documents got fields again meanwhile, because a program still writes them.
    """
    try:
        with output.progress() as show:
            done = detach(index, progress=show)
    except Stopped:
        end(INTERRUPTED, "Stopped. Run winnow detach again to remove the rest.")
    output.show(done, _lines(done))
    if done.written_meanwhile:
        say(
            f"{count_of(done.written_meanwhile, 'document')} got winnow's fields again meanwhile: some program still"
            " writes them. Stop it, then run winnow detach again."
        )
        end(NOTHING_FOUND)


def _lines(done: Detached) -> Iterator[str]:
    yield f"Removed winnow's fields from {count_of(done.documents, 'document')}."
    yield from (f"removed\t{part}" for part in done.removed)
    for needed_by in dict.fromkeys(map(tuple, done.kept.values())):
        parts = [part for part, names in done.kept.items() if tuple(names) == needed_by]
        yield f"kept\t{', '.join(parts)}, {_until_detached(needed_by)}"
    yield from (f"left\t{part}" for part in done.left)


def _until_detached(names: Sequence[str]) -> str:
    return f"until {some_of(names, MAX_NAMED)} {'is' if len(names) == 1 else 'are'} detached"
