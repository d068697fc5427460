"""The `winnow` command: one module for each subcommand."""

from __future__ import annotations

import click

from opensearch_winnow import __version__
from opensearch_winnow.cli.command_group import CommandGroup


@click.group(
    cls=CommandGroup,
    subjects={
        "Crawls": {
            "demo": "opensearch_winnow.cli.demo",
            "index": "opensearch_winnow.cli.crawls.index",
            "changes": "opensearch_winnow.cli.crawls.changes",
            "export": "opensearch_winnow.cli.crawls.export",
            "extract": "opensearch_winnow.cli.crawls.extract",
        },
        "Pages and texts": {
            "similar": "opensearch_winnow.cli.asking.similar",
            "compare": "opensearch_winnow.cli.asking.compare",
            "history": "opensearch_winnow.cli.asking.history",
            "locate": "opensearch_winnow.cli.asking.locate",
            "versions": "opensearch_winnow.cli.asking.versions",
            "watch": "opensearch_winnow.cli.asking.watch",
            "fingerprint": "opensearch_winnow.cli.asking.fingerprint",
        },
        "Search": {
            "search": "opensearch_winnow.cli.searching.search",
            "serve": "opensearch_winnow.cli.serve",
        },
        "Clusters": {
            "cluster": "opensearch_winnow.cli.clusters.cluster",
        },
        "Data sets and folders of documents": {
            "pairs": "opensearch_winnow.cli.sets.pairs",
            "dedup": "opensearch_winnow.cli.sets.dedup",
            "contaminated": "opensearch_winnow.cli.sets.contaminated",
        },
        "Your own index on OpenSearch": {
            "attach": "opensearch_winnow.cli.own_index.attach",
            "detach": "opensearch_winnow.cli.own_index.detach",
            "fields": "opensearch_winnow.cli.own_index.fields",
            "gateway": "opensearch_winnow.cli.own_index.gateway",
        },
        "Upkeep": {
            "stats": "opensearch_winnow.cli.upkeep.stats",
            "boilerplate": "opensearch_winnow.cli.upkeep.boilerplate",
            "delete": "opensearch_winnow.cli.crawls.delete",
            "rotate": "opensearch_winnow.cli.upkeep.rotate",
            "setup": "opensearch_winnow.cli.upkeep.setup",
            "migrate": "opensearch_winnow.cli.upkeep.migrate",
            "engine": "opensearch_winnow.cli.upkeep.engine",
            "completion": "opensearch_winnow.cli.completion",
        },
    },
    epilog="""\b
    Exit codes are those of grep: 0 found, 1 nothing found, 2 error.
    Run 'winnow COMMAND --help' for a command's description, examples and options.
    """,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="winnow", message="%(prog)s %(version)s")
def main() -> None:
    """Find copies in crawls and data sets: near-duplicates and quoted passages.

    \b
    Examples:
      winnow demo
      winnow index crawl.warc.gz --store crawl.winnow
      winnow similar http://example.org/page --store crawl.winnow
      winnow dedup train.jsonl --to kept.jsonl
    """
