"""Sentences about a comparison: what two texts share, how they differ, and why they share no passage."""

from __future__ import annotations

from typing import Literal, NamedTuple
from unicodedata import normalize

from opensearch_winnow.answers.asking.compared import Compared
from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.cython_core.canonical_text import canonical_text
from opensearch_winnow.cython_core.symbols import symbols_hash
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.queries.compare import Comparison


def comparison_summary(compared: Compared) -> str:
    """Say what two texts share, as a sentence without its full stop."""
    a, b, comparison, passages = compared.a.text, compared.b.text, compared.comparison, compared.passages
    runs = len(comparison.boilerplate)
    if not passages and not comparison.resemblance:
        return f"Nothing shared except boilerplate: {count_of(runs, 'run')}" if runs else "Nothing shared"
    if a == b:
        return "The two texts are identical" + _boilerplate_runs(runs)
    if comparison.resemblance == 1 and canonical_text(a).chars == canonical_text(b).chars:
        same = "The same text, except for case, spacing and punctuation"
        if symbols_hash(normalize("NFC", a)) != symbols_hash(normalize("NFC", b)):
            same = "The same words, but operators or signs differ"
        return same + _boilerplate_runs(runs)
    if not passages:
        return "No shared passage, only short runs of shared words" + _boilerplate_runs(runs)
    count = count_of(len(passages), "shared passage")
    moved = sum(each.moved for each in passages)
    if moved:
        count += f", {moved:,} moved"
    count += _boilerplate_runs(runs, more="more ")
    all_of_a, all_of_b = (
        f"All of {letter}{' except boilerplate' if left_out else ''}"
        for letter, left_out in zip("AB", comparison.left_out, strict=True)
    )
    if comparison.resemblance == 1:
        return f"{all_of_a} is in B and {all_of_b[0].lower()}{all_of_b[1:]} in A: {count}"
    if comparison.containment == 1:
        return f"{all_of_a} is in B: {count}"
    if comparison.contained == 1:
        return f"{all_of_b} is in A: {count}"
    return count


def differences_summary(compared: Compared) -> str:
    """Say how many words of each text are in no shared passage."""
    words = {"A": compared.a.unshared_words, "B": compared.b.unshared_words}
    rest = [f"{count_of(number, 'word')} of {letter}" for letter, number in words.items() if number]
    if not rest:
        moved = sum(each.moved for each in compared.passages)
        return "All words are shared" + (f", {count_of(moved, 'passage')} moved" if moved else "")
    return f"{' and '.join(rest)} {'is' if sum(words.values()) == 1 else 'are'} in no shared passage"


def three_numbers(comparison: Comparison) -> list[tuple[str, float]]:
    """Return the three scores with their names, in the order in which they are always shown."""
    return [
        ("resemblance", comparison.resemblance),
        ("A in B", comparison.containment),
        ("B in A", comparison.contained),
    ]


def _boilerplate_runs(runs: int, more: str = "") -> str:
    return f", {count_of(runs, f'{more}run is', f'{more}runs are')} boilerplate" if runs else ""


class NoPassage(NamedTuple):
    """The reason why two texts share no passage."""

    cause: Literal["short", "boilerplate", "nothing"]
    reason: str  # a sentence without its full stop, so that the caller can add a remedy


def no_passage(compared: Compared) -> NoPassage:
    """Explain why a comparison has no passage."""
    comparison, scheme, name = compared.comparison, compared.scheme, compared.a.url or compared.b.url
    nothing = "No shared passage" if comparison.resemblance else "Nothing shared"
    unit = "token" if scheme.form == "code" else "canonical character"
    for letter, side in ("A", compared.a), ("B", compared.b):
        length = len(canonical(side.text, scheme, name=side.url or name).chars)
        if length < scheme.noise:
            return NoPassage(
                "short", f"{nothing}: {letter} has {count_of(length, unit)}; at least {scheme.noise:,} are needed"
            )
    if comparison.boilerplate:
        runs = count_of(len(comparison.boilerplate), "run")
        return NoPassage("boilerplate", f"{nothing} except boilerplate: {runs}")
    guarantee = count_of(scheme.guarantee, unit)
    if scheme.form == "code":
        words, shortest = count_of(scheme.shingle, "token"), count_of(min(scheme.shingle, scheme.guarantee), "token")
    else:
        words = count_of(scheme.shingle, "word")
        shortest = f"{words}, and none of {guarantee}"
    if comparison.resemblance:
        return NoPassage("nothing", f"{nothing}: the texts share runs of {words}, but none of {guarantee}")
    return NoPassage("nothing", f"{nothing}: no run of {shortest}")
