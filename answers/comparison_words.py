"""The answer to a comparison, in words and three numbers."""

from __future__ import annotations

from collections.abc import Sequence

from opensearch_winnow.answers.compared import Compared
from opensearch_winnow.answers.search_words import count_of
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.queries.compare import Comparison
from opensearch_winnow.queries.numbered_passages import NumberedPassage


def answer(a: str, b: str, comparison: Comparison, passages: Sequence[NumberedPassage]) -> str:
    """One sentence without its full stop."""
    runs = len(comparison.boilerplate)
    if not passages and not comparison.resemblance:
        return f"Nothing shared but boilerplate: {count_of(runs, 'run')}" if runs else "Nothing shared"
    if a == b:
        return "The two texts are identical" + _of_boilerplate(runs)
    if comparison.resemblance == 1 and canonical_text(a).chars == canonical_text(b).chars:
        return "The same text, but for case, spacing and punctuation" + _of_boilerplate(runs)
    if not passages:
        return "No shared passage, but some shared words in a row" + _of_boilerplate(runs)
    count = count_of(len(passages), "shared passage")
    moved = sum(each.moved for each in passages)
    if moved:
        count += f", {moved:,} moved"
    count += _of_boilerplate(runs, more="more ")
    all_of_a, all_of_b = (
        f"All of {letter}{' but boilerplate' if left_out else ''}"
        for letter, left_out in zip("AB", comparison.left_out, strict=True)
    )
    if comparison.resemblance == 1:
        return f"{all_of_a} is in B and {all_of_b[0].lower()}{all_of_b[1:]} in A: {count}"
    if comparison.containment == 1:
        return f"{all_of_a} is in B: {count}"
    if comparison.contained == 1:
        return f"{all_of_b} is in A: {count}"
    return count


def unshared_in_words(compared: Compared) -> str:
    """How the two differ."""
    rest = [
        f"{count_of(side.unshared_words, 'word')} of {letter}"
        for letter, side in (("A", compared.a), ("B", compared.b))
        if side.unshared
    ]
    if not rest:
        moved = sum(each.moved for each in compared.passages)
        return "All words are shared" + (f", {count_of(moved, 'passage')} moved" if moved else "")
    one = compared.a.unshared_words + compared.b.unshared_words == 1
    return f"{' and '.join(rest)} {'is' if one else 'are'} in no shared passage"


def three_numbers(comparison: Comparison) -> list[tuple[str, float]]:
    return [
        ("resemblance", comparison.resemblance),
        ("A in B", comparison.containment),
        ("B in A", comparison.contained),
    ]


def _of_boilerplate(runs: int, more: str = "") -> str:
    if not runs:
        return ""
    return f", {runs:,} {more}run{'s are' if runs > 1 else ' is'} boilerplate"
