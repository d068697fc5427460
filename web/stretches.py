"""A text cut where passages and boilerplate begin and end, which may overlap."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import NamedTuple

from opensearch_winnow.answers.compared import Span

NAMED = 16  # passages of one stretch that are told: the last to begin


class Stretch(NamedTuple):
    start: int
    end: int
    begun: Sequence[int]  # the passages that begin here
    named: Sequence[int]  # those that lie over it, the last to begin first
    passages: int  # how many lie over it
    grey: bool  # it is boilerplate


def stretches(
    length: int, spans: Mapping[int, Span], boilerplate: Iterable[Span] = (), cuts: Iterable[int] = ()
) -> Iterator[Stretch]:
    """In order, and all of the text; the spans are those of passages by their numbers. It is cut at `cuts`, too."""
    starts, ends = defaultdict(list), defaultdict(list)
    for number, (start, end) in spans.items():
        starts[start].append(number)
        ends[end].append(number)
    changes: Counter[int] = Counter()  # how many more runs of boilerplate there are from here on
    for start, end in boilerplate:
        changes[start] += 1
        changes[end] -= 1
    active: dict[int, None] = {}  # in the order they began
    grey = 0
    for place, after in pairwise(sorted({0, length, *starts, *ends, *changes, *cuts})):
        for number in ends.get(place, ()):
            del active[number]
        begun = starts.get(place, ())
        active.update(dict.fromkeys(begun))
        grey += changes[place]
        yield Stretch(place, after, begun, list(islice(reversed(active), NAMED)), len(active), grey > 0)
