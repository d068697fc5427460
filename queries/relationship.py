"""Judges how two texts are related, from the passages that they share.

The kinds are from Heintze, "Scalable Document Fingerprinting" (1996), section 2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Protocol

from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.spans import merged_spans

Kind = Literal[
    "identical",
    "small edits",
    "reorganised",
    "revised",
    "condensed",
    "expanded",
    "includes parts",
    "little in common",
    "nothing in common",
]
Run = tuple[int, int, int, int]  # start and end in A, start and end in B

# What two texts have in common if their canonical texts are equal, by the form of the scheme.
SAME = {
    "text": "the same words in the same order",
    "consonants": "the same consonants in the same order",
    "code": "the same program, apart from names, strings, numbers, comments and layout",
}

# Thresholds fitted to pages that were edited, shuffled, cut and pasted: `python -m benchmarks relationship` measures
# how often they are right. A "share" is that of the characters of a text that are in shared passages.
SMALL_EDITS = 0.9  # share of both texts: one word in a hundred is changed
REVISED = 0.37  # share of both texts, in the same order
REORGANISED = 0.7  # share of both texts, in another order
MOVED = 0.2  # share of the shared text in another order, from which the texts are in another order
WHOLE = 0.8  # share of the condensed text that is in the other
SHORTER = 0.8  # maximum ratio of the smaller share to the larger, or of the lengths, of condensed and expanded texts
PART = 0.15  # share of one text; a smaller one is a quotation
PART_WORDS = 150  # words that are a part even of a very long text; in the paper, "several hundred"


@answer
class Relationship(Answer):
    """The relationship of text B to text A: "identical", "small edits", "reorganised", "revised", "condensed",
    "expanded", "includes parts", "little in common" or "nothing in common".

    "condensed" and "expanded" say what B is. All other kinds are the same in both directions, and no kind says which
    text came first.
    """

    kind: Kind = key("The kind of relationship.")
    reason: str = key(
        'The reason in words, such as "97 % of A and 96 % of B are in shared passages, in the same order".'
    )


class Lengths(NamedTuple):
    """The lengths of A and B, in code points from the first letter to the last, and in words."""

    a: int
    b: int
    words_in_a: int
    words_in_b: int
    unit: str = "word"  # or "token", in programs


class TextOverlap(Protocol):
    """The shared text of two texts, as a `Comparison` or a `Match` has it."""

    @property
    def containment(self) -> float: ...
    @property
    def contained(self) -> float: ...
    @property
    def passages(self) -> Sequence[Run]: ...
    @property
    def boilerplate(self) -> Sequence[Run]: ...
    @property
    def sameness(self) -> str: ...
    @property
    def lengths(self) -> Lengths | None: ...


def same_in(scheme: Scheme, *, disguised: bool | None = None) -> str:
    """Return, in words, what texts with equal canonical texts have in common.

    `disguised` is true if some letters only look alike, which matters if the scheme folds them; None: unknown.
    """
    folded = {None: ", if letters that look alike are one", True: ", but some letters only look alike", False: ""}
    return SAME[scheme.form] + (folded[disguised] if scheme.fold_confusables else "")


def judge_relationship(overlap: TextOverlap) -> Relationship | None:
    """Return how two texts are related, without boilerplate; None without lengths, as no passages were sought.

    The scores decide if there is no passage, as in short texts.
    """
    passages, boilerplate, lengths = overlap.passages, overlap.boilerplate, overlap.lengths
    containment, contained = overlap.containment, overlap.contained
    if overlap.sameness:
        return Relationship("identical", overlap.sameness)
    if lengths is None:
        return None
    in_a = containment if not passages else _covered(passages, boilerplate, lengths.a, side=0)
    in_b = contained if not passages else _covered(passages, boilerplate, lengths.b, side=2)
    if not passages and not containment and not contained:
        return Relationship("nothing in common", f"no shared passage{' except boilerplate' if boilerplate else ''}")
    less, more = sorted((in_a, in_b))
    words = max(in_a * lengths.words_in_a, in_b * lengths.words_in_b)
    moved = 1 - _in_order(passages) / sum(map(_size, passages)) if passages else 0.0
    order = _order(moved) if passages else ""
    if more >= WHOLE and PART <= less <= SHORTER * more:
        if in_b > in_a:
            return Relationship("condensed", f"{_of('B', in_b)} is in A, but only {_of('A', in_a)} in B{order}")
        return Relationship("expanded", f"{_of('A', in_a)} is in B, but only {_of('B', in_b)} in A{order}")
    each = _of("A", in_a), _of("B", in_b)
    both = f"{each[0][:-1]}both texts" if each[0][:-1] == each[1][:-1] else " and ".join(each)
    # Passages are counted in characters, scores in runs of words: the sentence must say which share it gives.
    where = "in shared passages" if passages else "shared"
    ours, theirs = lengths.words_in_a, lengths.words_in_b
    count = _words(ours, lengths.unit)
    if less >= WHOLE and min(ours, theirs) < SHORTER * max(ours, theirs):  # one repeats the other
        kind: Kind = "condensed" if ours > theirs else "expanded"
        return Relationship(kind, f"{both} are {where}{order}, but A has {count}, and B {theirs:,}")
    if less >= (REVISED if moved < MOVED else REORGANISED):
        kind = "reorganised" if moved >= MOVED else "small edits" if less >= SMALL_EDITS else "revised"
        return Relationship(kind, f"{both} are {where}{order}")
    about = max(round(float(f"{words:.2g}")), 1)
    about_words = f"about {_words(about, lengths.unit)} {'is' if about == 1 else 'are'}"
    reason = f"{about_words} in both ({both}){order if moved >= MOVED else ''}"
    return Relationship("includes parts" if more >= PART or words >= PART_WORDS else "little in common", reason)


def _covered(passages: Sequence[Run], boilerplate: Sequence[Run], length: int, *, side: Literal[0, 2]) -> float:
    """Return the share of a text that is in passages. Boilerplate outside of passages is left out of the length."""
    in_passages = _total(passages, side=side)
    excluded = _total([*passages, *boilerplate], side=side) - in_passages
    return min(in_passages / max(length - excluded, 1), 1.0)


def _total(runs: Sequence[Run], *, side: Literal[0, 2]) -> int:
    return sum(end - start for start, end in merged_spans((run[side], run[side + 1]) for run in runs))


def _size(run: Run) -> int:
    return run[1] - run[0] + run[3] - run[2]


def _in_order(passages: Sequence[Run]) -> int:
    """Return the largest total size of passages that are in the same order in both texts.

    A Fenwick tree keeps, for each start in B, the best total of a series that ends there or before.
    """
    index_of = {start: i for i, start in enumerate(sorted({run[2] for run in passages}), 1)}
    best = [0] * (len(index_of) + 1)
    for run in sorted(passages):
        index = before = index_of[run[2]]
        total = 0
        while before:
            total = max(total, best[before])
            before &= before - 1
        total += _size(run)
        while index < len(best):
            best[index] = max(best[index], total)
            index += index & -index
    return max(best)


def _order(moved: float) -> str:
    return f", {_percent(moved)} of it in another order" if moved else ", in the same order"


def _of(text: Literal["A", "B"], share: float) -> str:
    return f"all of {text}" if share == 1 else f"{_percent(share)} of {text}"


def _words(number: int, unit: str) -> str:
    return f"{number:,} {unit}{'' if number == 1 else 's'}"


def _percent(share: float) -> str:
    return "under 1 %" if share < 0.01 else "over 99 %" if share > 0.99 else f"{100 * share:.0f} %"
