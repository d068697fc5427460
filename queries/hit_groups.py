"""The hits of somebody's own search, in groups: from the answer of an engine, as any client has it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.asked import QuestionError
from opensearch_winnow.queries.dsl.dedupe import COUNTS, INNER_HITS_PREFIX
from opensearch_winnow.queries.dsl.ranked import CLUSTERS, UNCLUSTERED
from opensearch_winnow.queries.groups import Leaders, Likeness
from opensearch_winnow.queries.hit_documents import Hit, HitDocuments


class HitMember(NamedTuple):
    """A hit of a group, and how it compares with the one that is shown for it."""

    hit: Hit
    resemblance: float
    kind: Literal["exact", "estimate"]
    error: float  # the standard error; 0 where it is exact, 1 where only the cluster is known to be the same


class HitGroup(NamedTuple):
    """Hits that resemble the first of them, or are in its cluster."""

    hit: Hit  # the first of them
    members: list[HitMember]  # the others
    size: int  # documents, with those that the engine has counted and not returned


@dataclass(frozen=True, slots=True)
class HitGroups:
    """Behaves as the list of its groups, in the order of the answer."""

    groups: list[HitGroup]
    total: int | None  # documents that the query finds; None where the engine has not counted all
    count: int | None  # groups of all these documents; None where not all of them are in the answer
    about: int | None  # clusters of all these documents, as an engine estimates them; None where it was not asked
    left_out: int  # documents without a cluster that the engine has not returned: ask for more members

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[HitGroup]:
        return iter(self.groups)

    def __getitem__(self, index: int) -> HitGroup:
        return self.groups[index]


def group_hits(
    response: Mapping[str, Any],
    threshold: float = 0.5,
    *,
    scheme: Scheme = Scheme(),
    below: str = "",
    text: str = "text",
) -> HitGroups:
    """The hits of an answer, in groups of those that resemble the first of their group at least so much.

    The fields `minhash` and `shingle_count` are in `_source`, or among `docvalue_fields`; if said, below an object
    field. A hit without them is a group of its own. Where hits have the field `text`, and it is the text that was
    fingerprinted, pairs near the threshold are decided by it. Of the answer to a `dedupe` body the clusters stay
    together, and documents without one are taken apart.
    """
    documents = HitDocuments(scheme, f"{below}." if below else "", text)
    found, left_out = _found(response)
    leaders = Leaders(scheme, threshold, documents.resemblances)
    places = [documents.add(each.hit) for each in found]
    joined = leaders.add([documents.sketched[place] for place in places])
    groups: dict[int, list[HitMember]] = {}
    sizes: dict[int, int] = {}
    for place, each, joins in zip(places, found, joined, strict=True):
        leader = place if joins is None else joins.leader
        members = groups.setdefault(leader, [])
        if joins is not None:
            members.append(_member(each.hit, joins.likeness))
        members += (_member(mate, documents.likeness(leader, documents.add(mate))) for mate in each.mates)
        sizes[leader] = sizes.get(leader, 0) + each.size
    total = _total(response)
    seen = sum(each.size for each in found) if all(each.counted for each in found) else None
    return HitGroups(
        groups=[HitGroup(documents.hits[leader], members, sizes[leader]) for leader, members in groups.items()],
        total=total,
        count=len(groups) if total is not None and total == seen else None,
        about=_about(response),
        left_out=left_out,
    )


# --- what an answer has -----------------------------------------------------------------------------------------------


class _Found(NamedTuple):
    hit: Hit
    mates: Sequence[Hit] = ()  # of the same cluster
    size: int = 1  # of the cluster
    counted: bool = True  # exactly


def _found(response: Mapping[str, Any]) -> tuple[list[_Found], int]:
    """The hits; and how many documents without a cluster are missing."""
    try:
        hits: list[Hit] = response["hits"]["hits"]
    except (KeyError, TypeError):
        raise QuestionError(
            "that is no answer to a search: there are no hits in it, as client.search has them"
        ) from None
    found: list[_Found] = []
    left_out = 0
    for hit in hits:
        field = next((name for name in hit.get("inner_hits", {}) if name.startswith(INNER_HITS_PREFIX)), None)
        if field is None:
            found.append(_Found(hit))
            continue
        inner = hit["inner_hits"][field]["hits"]
        mates = [mate for mate in inner["hits"] if _key(mate) != _key(hit)]
        size, counted = _counted(inner)
        if any(hit.get("fields", {}).get(field.removeprefix(INNER_HITS_PREFIX), ())):
            found.append(_Found(hit, mates, max(size, 1 + len(mates)), counted))
        else:
            found += (_Found(hit), *map(_Found, mates))
            left_out += max(size - 1 - len(mates), 0)
    given: list[Any] = [hit.get("_score") for hit in hits]
    if None not in given and given == sorted(given, reverse=True):  # what was taken apart has its own place in it
        found.sort(key=lambda each: each.hit.get("_score") or 0.0, reverse=True)
    return found, left_out


def _key(hit: Hit) -> tuple[Any, Any]:
    return hit.get("_index"), hit.get("_id")


def _counted(hits: Mapping[str, Any]) -> tuple[int, bool]:
    """The total of hits as engines write it, in one of two ways; and whether it is exact."""
    total = hits.get("total")
    if isinstance(total, int):
        return total, True
    return (total["value"], total["relation"] == "eq") if total else (0, False)


def _total(response: Mapping[str, Any]) -> int | None:
    if response.get("timed_out") or response.get("terminated_early") or response.get("_shards", {}).get("failed"):
        return None
    total, exact = _counted(response["hits"])
    if exact:
        return total
    counts = response.get("aggregations", {}).get(COUNTS)
    return counts["doc_count"] if counts else None


def _about(response: Mapping[str, Any]) -> int | None:
    counts = response.get("aggregations", {}).get(COUNTS)
    return counts[CLUSTERS]["value"] + counts[UNCLUSTERED]["doc_count"] if counts else None


def _member(hit: Hit, likeness: Likeness) -> HitMember:
    return HitMember(hit, likeness.resemblance, "estimate" if likeness.error else "exact", likeness.error)
