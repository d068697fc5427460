"""The `winnow` command: one module for each subcommand."""

from __future__ import annotations

import click

from opensearch_winnow import __version__
from opensearch_winnow.cli.command_group import CommandGroup


@click.group(
    cls=CommandGroup,
    command_modules={
        "index": "opensearch_winnow.cli.crawls.index",
        "similar": "opensearch_winnow.cli.asking.similar",
        "search": "opensearch_winnow.cli.searching.search",
        "compare": "opensearch_winnow.cli.asking.compare",
        "pairs": "opensearch_winnow.cli.sets.pairs",
        "history": "opensearch_winnow.cli.asking.history",
        "changes": "opensearch_winnow.cli.crawls.changes",
        "locate": "opensearch_winnow.cli.asking.locate",
        "versions": "opensearch_winnow.cli.asking.versions",
        "watch": "opensearch_winnow.cli.asking.watch",
        "serve": "opensearch_winnow.cli.serve",
        "cluster": "opensearch_winnow.cli.clusters.cluster",
        "contaminated": "opensearch_winnow.cli.sets.contaminated",
        "dedup": "opensearch_winnow.cli.sets.dedup",
        "stats": "opensearch_winnow.cli.upkeep.stats",
        "boilerplate": "opensearch_winnow.cli.upkeep.boilerplate",
        "fingerprint": "opensearch_winnow.cli.asking.fingerprint",
        "fields": "opensearch_winnow.cli.own_index.fields",
        "delete": "opensearch_winnow.cli.crawls.delete",
        "export": "opensearch_winnow.cli.crawls.export",
        "extract": "opensearch_winnow.cli.crawls.extract",
        "engine": "opensearch_winnow.cli.upkeep.engine",
        "setup": "opensearch_winnow.cli.upkeep.setup",
        "migrate": "opensearch_winnow.cli.upkeep.migrate",
        "rotate": "opensearch_winnow.cli.upkeep.rotate",
        "attach": "opensearch_winnow.cli.own_index.attach",
        "detach": "opensearch_winnow.cli.own_index.detach",
        "gateway": "opensearch_winnow.cli.own_index.gateway",
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
