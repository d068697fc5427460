"""What to try with the store of the demo."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.cli.demo.findings import WORDS, Findings
from opensearch_winnow.cli.terminal import shell_command


def next_commands(findings: Findings, store: str) -> list[str]:
    """The one that opens it in a browser first. Each finds something."""
    return [shell_command(*words, "--store", store) for words in _words(findings)]


def _words(findings: Findings) -> Iterator[tuple[str, ...]]:
    yield ("serve",)
    if findings.search.total:
        yield "search", WORDS.strip('"')
    if findings.contained:
        yield "similar", findings.contained[0].page.url, "--min-containment", "1"
    elif findings.clusters:
        yield "similar", findings.clusters[0].pages[0].url
    if findings.pair:
        yield "compare", findings.pair.a.url, findings.pair.b.url
