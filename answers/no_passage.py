"""Why two texts share no passage: never a silent zero."""

from __future__ import annotations

from typing import Literal, NamedTuple

from opensearch_winnow.answers.search_words import count_of
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparison


class NoPassage(NamedTuple):
    cause: Literal["short", "boilerplate", "nothing"]
    reason: str  # without its full stop, so that what would find something can be added


def no_passage(
    a: str, b: str, comparison: Comparison, scheme: Scheme, names: tuple[str | None, str | None] = (None, None)
) -> NoPassage:
    """`names` tell the languages of code."""
    nothing = "No shared passage" if comparison.resemblance else "Nothing shared"
    for letter, text, name in zip("AB", (a, b), (names[0] or names[1], names[1] or names[0]), strict=True):
        length = len(canonical(text, scheme, name=name).chars)
        if length < scheme.noise:
            return NoPassage(
                "short",
                f"{nothing}: {letter} has {length:,} canonical characters; at least {scheme.noise:,} are needed",
            )
    if comparison.boilerplate:
        return NoPassage("boilerplate", f"{nothing} but boilerplate: {count_of(len(comparison.boilerplate), 'run')}")
    run = count_of(scheme.shingle, "token" if scheme.form == "code" else "word")
    if comparison.resemblance:
        known = f"runs of {run} are in both, but none of {scheme.guarantee:,} canonical characters"
    else:
        known = f"no run of {run}, and none of {scheme.guarantee:,} canonical characters"
    return NoPassage("nothing", f"{nothing}: {known}")
