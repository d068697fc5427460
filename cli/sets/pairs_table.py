"""The lines of a table of pairs, with a bar for the measure that ranks them."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.answers.display_text import Span, one_line, shorten_middle, width
from opensearch_winnow.answers.sets.pairs_words import unit
from opensearch_winnow.cli.short_urls import ShortUrls, short_urls
from opensearch_winnow.cli.text_columns import GAP, TextColumn, joined, percent_column, share_column
from opensearch_winnow.queries.sets.pairs import Pairs

MIN_NAME_COLUMNS = 12


def table(pairs: Pairs, columns: int, *, full: bool = False) -> Iterator[list[Span]]:
    """Yield the lines of the table: the measure that ranks the pairs, the other numbers, and the names."""
    longest, lengths = f"longest ({unit(pairs)})", [f"{pair.longest:,}" for pair in pairs]
    shares = [
        percent_column("A in B", [pair.containment for pair in pairs]),
        percent_column("B in A", [pair.contained for pair in pairs]),
    ]
    if pairs.measure == "longest":
        most = max((pair.longest for pair in pairs), default=0) or 1
        similarity = percent_column("similarity", [pair.similarity for pair in pairs])
        numbers = [share_column(longest, [pair.longest / most for pair in pairs], lengths), similarity, *shares]
    else:
        ranked = share_column(pairs.measure, [pair.score(pairs.measure) for pair in pairs])
        numbers = [ranked, *shares, TextColumn(longest, lengths, right=True)]
    head, _ = joined(numbers)
    room = max((columns - width(head) - 2 * len(GAP)) // 2, MIN_NAME_COLUMNS)
    named = [name for pair in pairs for name in (pair.a, pair.b)]
    names = ShortUrls([one_line(name).strip() for name in named]) if full else short_urls(named, room)
    if names.folder:
        yield [(shorten_middle(f"… is {names.folder}", columns), "dim")]
    head, lines = joined([*numbers, TextColumn("A", names.shown[::2])])
    yield [(f"{head}{GAP}B", "bold")]
    yield from ([(f"{line}{GAP}{b}", "plain")] for line, b in zip(lines, names.shown[1::2], strict=True))
