"""The answer to a comparison, in words and three numbers."""

from __future__ import annotations

from collections.abc import Sequence

from opensearch_winnow.cli.numbered_passages import NumberedPassage
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.compare import Comparison


def percent(share: float) -> str:
    """Whole per cents; 0 and 100 only where nothing is rounded."""
    if 0 < share < 0.01:
        return "under 1 %"
    if 0.99 < share < 1:
        return "over 99 %"
    return f"{share:.0%}".replace("%", " %")


def answer(a: str, b: str, comparison: Comparison, passages: Sequence[NumberedPassage]) -> str:
    """One sentence without its full stop."""
    if not passages and not comparison.resemblance:
        return "Nothing shared"
    if a == b:
        return "The two texts are identical"
    if comparison.resemblance == 1 and canonical_text(a).chars == canonical_text(b).chars:
        return "The same text, but for case, spacing and punctuation"
    if not passages:
        return "No shared passage, but some shared words in a row"
    count = "1 shared passage" if len(passages) == 1 else f"{len(passages):,} shared passages"
    moved = sum(each.moved for each in passages)
    if moved:
        count += f", {moved:,} moved"
    if comparison.resemblance == 1:
        return f"All of A is in B and all of B in A: {count}"
    if comparison.containment == 1:
        return f"All of A is in B: {count}"
    if comparison.contained == 1:
        return f"All of B is in A: {count}"
    return count


def three_numbers(comparison: Comparison) -> list[tuple[str, float]]:
    return [
        ("resemblance", comparison.resemblance),
        ("A in B", comparison.containment),
        ("B in A", comparison.contained),
    ]
