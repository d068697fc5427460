"""The `winnow` command: one module for each subcommand."""

from __future__ import annotations

import click

from opensearch_winnow import __version__
from opensearch_winnow.cli.command_group import CommandGroup


@click.group(
    cls=CommandGroup,
    command_modules={
        "index": "opensearch_winnow.cli.index",
        "similar": "opensearch_winnow.cli.similar",
        "search": "opensearch_winnow.cli.search",
        "compare": "opensearch_winnow.cli.compare",
        "pairs": "opensearch_winnow.cli.pairs",
        "history": "opensearch_winnow.cli.history",
        "changes": "opensearch_winnow.cli.changes",
        "locate": "opensearch_winnow.cli.locate",
        "versions": "opensearch_winnow.cli.versions",
        "watch": "opensearch_winnow.cli.watch",
        "serve": "opensearch_winnow.cli.serve",
        "cluster": "opensearch_winnow.cli.cluster",
        "contaminated": "opensearch_winnow.cli.contaminated",
        "dedup": "opensearch_winnow.cli.dedup",
        "stats": "opensearch_winnow.cli.stats",
        "boilerplate": "opensearch_winnow.cli.boilerplate",
        "fingerprint": "opensearch_winnow.cli.fingerprint",
        "delete": "opensearch_winnow.cli.delete",
        "export": "opensearch_winnow.cli.export",
        "extract": "opensearch_winnow.cli.extract",
        "engine": "opensearch_winnow.cli.engine",
        "setup": "opensearch_winnow.cli.setup",
        "migrate": "opensearch_winnow.cli.migrate",
        "rotate": "opensearch_winnow.cli.rotate",
        "attach": "opensearch_winnow.cli.attach",
        "detach": "opensearch_winnow.cli.detach",
        "gateway": "opensearch_winnow.cli.gateway",
        "demo": "opensearch_winnow.cli.demo",
        "completion": "opensearch_winnow.cli.completion",
    },
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="winnow", message="%(prog)s %(version)s")
def main() -> None:
    """\b
    Examples:
      winnow demo
      winnow index crawl.warc.gz --store crawl.winnow
      winnow similar http://example.org/page --store crawl.winnow
      winnow search mill valley --store crawl.winnow
      winnow cluster --store crawl.winnow
      winnow dedup train.jsonl --to kept.jsonl
      winnow dedup train.jsonl --passages --to cut.jsonl
      winnow contaminated train.jsonl --against exam.jsonl --clean clean.jsonl
      winnow pairs homework/ --report pairs.html
      winnow serve --store crawl.winnow --open
      winnow compare draft.txt published.txt
      winnow compare draft.txt published.txt --html compare.html
      pdftotext paper.pdf - | winnow compare - thesis.txt --json
      winnow fingerprint draft.txt

    Find near-duplicate pages in a crawl, and the passages they share.

    Exit codes are the same as grep's: 0 found, 1 nothing found, 2 error.
    """
