"""winnow demo: the whole job, on texts that every Python has."""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import click

from opensearch_winnow.answers.percent import percent
from opensearch_winnow.cli.side_by_side import SideBySide
from opensearch_winnow.cli.terminal import Terminal, color_option, json_option, shell_command, terminal
from opensearch_winnow.errors import WinnowError
from opensearch_winnow.ingest.fingerprint import fingerprint
from opensearch_winnow.queries.compare import Comparison, Passage, compare
from opensearch_winnow.queries.numbered_passages import numbered_passages
from opensearch_winnow.scheme import Scheme

SHOWN = 5  # of each list
MOSTLY = 0.5  # a text of which less is in another is not worth a line


@dataclass(frozen=True, slots=True)
class Match:
    a: str
    b: str
    comparison: Comparison

    @property
    def longest(self) -> Passage:
        return max(
            self.comparison.passages, key=lambda passage: passage.end - passage.start, default=Passage(0, 0, 0, 0)
        )


@dataclass(frozen=True, slots=True)
class Found:
    """What the demo found."""

    scheme: Scheme
    texts: dict[str, str]
    fingerprints: int
    candidates: int
    matches: list[Match]  # most alike first
    contained: list[tuple[float, str, str]]  # a share of a text is in another; all of the longest text first
    seconds: float

    @property
    def longest(self) -> Match:
        return max(self.matches, key=lambda match: match.longest.end - match.longest.start)


@click.command("demo", short_help="The whole job on texts that are already on this machine.")
@click.option(
    "--to",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where to write two of the texts, for the commands to try next.  [default: a new temporary directory]",
)
@json_option
@color_option
def command(to: Path | None, as_json: bool, color: str) -> None:
    """\b
    Examples:
      winnow demo
      winnow demo --to texts
      winnow demo --json

    Fingerprints the topics of Python's own help, finds the pairs that share a fingerprint, compares these exactly, and
    says what they share. Downloads nothing, and takes a second or two.
    """
    found = find(help_topics(), Scheme())
    folder = to or Path(tempfile.mkdtemp(prefix="winnow-demo-"))
    files = write_texts(found, folder)
    if as_json:
        click.echo(json.dumps(as_object(found, files)))
    else:
        columns = shutil.get_terminal_size().columns
        tell(terminal(color) or Terminal(columns, colour=False), found, files)


def help_topics() -> dict[str, str]:
    try:
        from pydoc_data.topics import topics  # noqa: PLC0415 (half a megabyte, and some Pythons come without it)
    except ImportError:
        python = sys.executable
        raise WinnowError(
            f"{python} has no pydoc_data, whose texts the demo takes; try it with another Python"
        ) from None
    return dict(topics)


def find(texts: dict[str, str], scheme: Scheme) -> Found:
    """Texts to fingerprints, to candidates that share one, to matches: as a store does it for millions of pages."""
    started = time.perf_counter()
    count = 0
    names_by_hash = defaultdict(set)
    for name, text in texts.items():
        prints = fingerprint(text, scheme)
        count += len(prints)
        for hash_ in prints.hashes:
            names_by_hash[hash_].add(name)
    candidates = {pair for names in names_by_hash.values() for pair in combinations(sorted(names), 2)}
    matches = [Match(a, b, compare(texts[a], texts[b], scheme)) for a, b in sorted(candidates)]
    matches.sort(key=lambda match: -match.comparison.resemblance)
    shares = [(match.comparison.containment, match.a, match.b) for match in matches]
    shares += [(match.comparison.contained, match.b, match.a) for match in matches]
    contained = [share for share in shares if share[0] >= MOSTLY]
    contained.sort(key=lambda share: (-share[0], -len(texts[share[1]])))
    return Found(scheme, texts, count, len(candidates), matches, contained, time.perf_counter() - started)


def write_texts(found: Found, folder: Path) -> tuple[Path, Path]:
    """The two texts that share the most passages, as files."""
    chosen = max(found.matches, key=lambda match: len(match.comparison.passages))
    folder.mkdir(parents=True, exist_ok=True)
    a, b = (folder / f"{name}.txt" for name in (chosen.a, chosen.b))
    for path in (a, b):
        path.write_text(found.texts[path.stem], encoding="utf-8", newline="")
    return a, b


def commands(files: tuple[Path, Path]) -> list[str]:
    a, b = map(str, files)
    page = str(files[0].parent / "compare.html")
    return [
        shell_command(*words) for words in (("compare", a, b), ("compare", a, b, "--html", page), ("fingerprint", a))
    ]


def as_object(found: Found, files: tuple[Path, Path]) -> dict[str, object]:
    longest = found.longest
    return {
        "scheme": found.scheme.id,
        "texts": len(found.texts),
        "characters": sum(map(len, found.texts.values())),
        "fingerprints": found.fingerprints,
        "candidates": found.candidates,
        "matches": [
            {
                "a": match.a,
                "b": match.b,
                "resemblance": match.comparison.resemblance,
                "containment": match.comparison.containment,
                "contained": match.comparison.contained,
                "passages": len(match.comparison.passages),
            }
            for match in found.matches
        ],
        "contained": [{"text": a, "in": b, "containment": share} for share, a, b in found.contained],
        "longest": {"a": longest.a, "b": longest.b, **longest.longest._asdict()},
        "seconds": found.seconds,
        "next": commands(files),
    }


def tell(screen: Terminal, found: Found, files: tuple[Path, Path]) -> None:
    texts = found.texts
    pairs = len(texts) * (len(texts) - 1) // 2
    screen.echo(screen.paint(f"{len(texts)} texts, the topics of Python's own help", "bold"))
    screen.echo(f"{sum(map(len, texts.values())):,} characters gave {found.fingerprints:,} fingerprints.")
    screen.echo(f"{found.candidates} of {pairs:,} pairs share one, and were compared exactly.")

    screen.echo("\n" + screen.paint("Most alike", "bold"))
    for match in found.matches[:SHOWN]:
        resemblance = match.comparison.resemblance
        bar = "█" * round(10 * resemblance)
        screen.echo(f"{percent(resemblance):>9} {bar:10} {match.a} and {match.b}")

    screen.echo("\n" + screen.paint("Contained in another", "bold"))
    for share, a, b in found.contained[:SHOWN]:
        screen.echo(f"{'all' if share == 1 else percent(share):>9} of '{a}' is in '{b}'")
    if len(found.contained) > SHOWN:
        screen.echo(f"          and {len(found.contained) - SHOWN} more, all of them at least {percent(MOSTLY)}")

    match = found.longest
    a, b = texts[match.a], texts[match.b]
    (longest,) = numbered_passages(a, [match.longest])
    screen.echo("\n" + screen.paint("The longest shared passage", "bold"))
    view = SideBySide(screen, a, b)
    for line in (*view.names(match.a, match.b), *view.passage(longest)):
        screen.echo(line)

    screen.echo(f"\nAll of it took {found.seconds:.2f} seconds.")
    screen.echo(screen.paint("\nTry next", "bold"))
    for line in commands(files):
        screen.echo(f"  {line}")
