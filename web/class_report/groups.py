"""The groups of documents that pairs connect, each drawn as a graph."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from markupsafe import Markup

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.cython_core.components import UnionFind
from opensearch_winnow.queries.sets.pairs import Pair, Pairs
from opensearch_winnow.web.charts.page_graph import Node, page_graph

MAX_DRAWN_DOCUMENTS = 80  # in a group; more would cover each other
MAX_DRAWN_GROUPS = 40
MIN_DRAWN = 1e-3  # a pair without a shingle in common can still share a passage


@dataclass(frozen=True, slots=True)
class Group:
    """Documents that are connected by pairs."""

    members: Sequence[tuple[int, str]]  # number and name
    pairs: Sequence[Pair]  # the most similar first
    graph: Markup | None  # None: too many to draw


def document_numbers(pairs: Pairs) -> dict[str, int]:
    """Number the documents from 1: first in the order of the pairs, then the others, and last the documents that were
    not compared.

    The order is not alphabetical, so that numbers do not betray names.
    """
    named = dict.fromkeys(name for each in pairs.pairs for name in (each.a, each.b))
    rest = sorted(
        (each for each in pairs.documents if each.id not in named),
        key=lambda each: ([file.text for file in each.files], each.id),
    )
    missing = sorted(
        (each.name for each in pairs.not_compared), key=lambda name: blake2b(name.encode("utf-8", "replace")).digest()
    )
    return {name: number for number, name in enumerate((*named, *(each.id for each in rest), *missing), 1)}


def connected_groups(pairs: Pairs, numbers: Mapping[str, int], address: Callable[[Pair], str]) -> list[Group]:
    """Return the groups, the largest first. `address` returns the address of a pair."""
    joined = UnionFind(len(numbers) + 1)
    ends = [(numbers[each.a], numbers[each.b]) for each in pairs.pairs]
    joined.join_all(array("I", (a for a, _ in ends)), array("I", (b for _, b in ends)))
    labels = joined.labels()
    members: dict[int, list[tuple[int, str]]] = defaultdict(list)
    for name, number in numbers.items():
        members[labels[number]].append((number, name))
    links: dict[int, list[Pair]] = defaultdict(list)
    for pair, (a, _) in zip(pairs.pairs, ends, strict=True):
        links[labels[a]].append(pair)
    order = sorted(links, key=lambda label: (-len(members[label]), members[label][0]))
    return [
        Group(
            members[label],
            links[label],
            _graph(members[label], links[label], address)
            if i < MAX_DRAWN_GROUPS and len(members[label]) <= MAX_DRAWN_DOCUMENTS
            else None,
        )
        for i, label in enumerate(order)
    ]


def _graph(members: Sequence[tuple[int, str]], links: Sequence[Pair], address: Callable[[Pair], str]) -> Markup:
    nodes = [Node(name, number, f"{number}: {one_line(name)}", 0) for number, name in members]
    index_of = {name: at for at, (_, name) in enumerate(members)}
    matrix = [[0.0] * row for row in range(len(members))]
    by_names = {}
    for pair in links:
        low, high = sorted((index_of[pair.a], index_of[pair.b]))
        matrix[high][low] = max(pair.similarity, MIN_DRAWN)
        by_names[frozenset((pair.a, pair.b))] = pair
    return Markup(
        "".join(
            page_graph(
                nodes,
                matrix,
                max(min(each.similarity for each in links), MIN_DRAWN),
                page=lambda _: "#pairs",
                comparison=lambda a, b: address(by_names[frozenset((a.id, b.id))]),
                representative=False,
            )
        )
    )
