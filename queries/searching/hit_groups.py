"""Defines groups of an engine's hits, and makes them from the response that a client returns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.dsl.deduplicate_search_body import COUNTS, INNER_HITS_PREFIX
from opensearch_winnow.queries.dsl.ranked import CLUSTERS, UNCLUSTERED
from opensearch_winnow.queries.searching.hit_documents import FieldTexts, Hit, HitDocuments
from opensearch_winnow.queries.searching.representatives import Representatives, Similarity


class ClientResponse(Protocol):
    """The response of elasticsearch-py 8 and later, which is not a mapping."""

    @property
    def body(self) -> Any:
        """The decoded JSON."""


class HitMember(NamedTuple):
    """A member of a group, and how it compares with the group's representative."""

    hit: Hit
    resemblance: float
    kind: Literal["exact", "estimate"]
    error: float  # the standard error; 0: exact, 1: only the cluster is known to be the same


class HitGroup(NamedTuple):
    """Near-duplicate hits: a representative, and the members that resemble it or are in its cluster."""

    hit: Hit  # the representative
    members: list[HitMember]
    size: int  # documents, including those that the engine has counted but not returned


class FoldedHit(NamedTuple):
    """A hit, found late, that belongs to a group on an earlier page."""

    hit: Hit  # the representative of the group, with its `_index` and `_id`, and without its document
    member: HitMember


@dataclass(frozen=True, slots=True)
class HitGroups:
    """Groups among the hits of a search, in its order. Behaves like a list of groups.

    On a page of `search_groups`, the representative of a group is as the search asks for it. Members have `_index`,
    `_id`, `_score` and the `docvalue_fields` of the search, but no document.
    """

    groups: list[HitGroup]
    total: int | None  # documents that match the query; None if the engine has not counted all
    count: int | None  # groups among them; None until all of them have been examined
    at_least: int  # groups
    at_most: int | None  # groups; None if the total is not known
    examined: int  # documents that were grouped, on this page and the earlier ones
    without_fields: int = 0  # of these, documents without our fields; if these are all, check `below`
    about: int | None = None  # the engine's estimate of the clusters; None if the query did not ask for it
    left_out: int = 0  # documents without a cluster that a response does not have; ask for more members to see them
    folded: list[FoldedHit] = field(default_factory=list)  # members of groups on earlier pages that were found since
    stale: int = 0  # documents that were changed since their fields were made; their texts were read
    aggregations: dict[str, Any] = field(default_factory=dict)  # of all documents that match; on the first page only
    cursor: str | None = None  # leads to the next page of `search_groups`; None at the end

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[HitGroup]:
        return iter(self.groups)

    def __getitem__(self, index: int) -> HitGroup:
        return self.groups[index]


def group_hits(
    response: Mapping[str, Any] | ClientResponse | str | bytes,
    min_resemblance: float = 0.5,
    *,
    scheme: Scheme = Scheme(),
    below: str = "",
    text: str | Sequence[str] = "text",
) -> HitGroups:
    """Group the hits of a `response`: what `search` of opensearch-py or elasticsearch-py returns, or its JSON.

    Each hit joins the first group whose representative it resembles by at least `min_resemblance`, or starts a new
    group. The hits need the fields `minhash` and `shingle_count`, in `_source` or among `docvalue_fields`; `below`
    names the object field that holds them, if there is one. A hit without them is a group of its own. `scheme` is the
    scheme of the hashes.

    `text` names the field, or the fields in their order, with the text that was fingerprinted. If the hits have it, it
    decides pairs near that resemblance. If they have `text_digest` as well, and it is the digest of another text, then
    the fields are stale: the sketches are computed from the text instead.

    In the response to a body of `deduplicate_search_body`, the documents of a cluster stay together; documents without
    a cluster are grouped one by one.
    """
    texts = FieldTexts([text] if isinstance(text, str) else text)
    documents = HitDocuments(scheme, f"{below}." if below else "", texts)
    answer = response_body(response)
    ranked, left_out = _ranked_hits(answer)
    ranks = [documents.add(each.hit) for each in ranked]
    batch = Representatives(scheme, min_resemblance).begin(documents.sketched)
    while pairs := batch.undecided:
        batch.settle(documents.resemblances(pairs))
    groups: dict[int, list[HitMember]] = {}
    sizes: dict[int, int] = {}
    for rank, each, join in zip(ranks, ranked, batch.joins, strict=True):
        representative = rank if join is None else join.representative
        members = groups.setdefault(representative, [])
        if join is not None:
            members.append(hit_member(each.hit, join.similarity))
        members += (hit_member(mate, documents.similarity(representative, documents.add(mate))) for mate in each.mates)
        sizes[representative] = sizes.get(representative, 0) + each.size
    total = response_total(answer)
    seen = sum(each.size for each in ranked)
    complete = total is not None and total == seen and all(each.counted for each in ranked)
    unseen = None if total is None else max(total - seen, 0)
    return HitGroups(
        groups=[HitGroup(documents.hits[rank], members, sizes[rank]) for rank, members in groups.items()],
        total=total,
        count=len(groups) if complete else None,
        at_least=len(groups),
        at_most=None if unseen is None else len(groups) + unseen,
        examined=len(documents.hits),
        about=_about(answer),
        left_out=left_out,
        without_fields=documents.without_fields,
    )


# --- reading a response -----------------------------------------------------------------------------------------------


def response_body(response: Mapping[str, Any] | ClientResponse | str | bytes) -> Mapping[str, Any]:
    """Return the response to a search as a mapping. A value without hits raises a QuestionError."""
    try:
        body: Any = json.loads(response) if isinstance(response, str | bytes) else response
        answer: Mapping[str, Any] = body if isinstance(body, Mapping) else getattr(body, "body", {})
        if isinstance(answer["hits"]["hits"], list):
            return answer
    except (KeyError, TypeError, ValueError):
        pass
    raise QuestionError("this is not the response to a search: it has no hits. Pass what client.search returns")


class _RankedHit(NamedTuple):
    hit: Hit
    mates: Sequence[Hit] = ()  # other hits of its cluster
    size: int = 1  # documents in its cluster
    counted: bool = True  # the size is exact


def _ranked_hits(response: Mapping[str, Any]) -> tuple[list[_RankedHit], int]:
    """Return the hits in order, and the number of documents without a cluster that were not returned."""
    hits: list[Hit] = response["hits"]["hits"]
    ranked: list[_RankedHit] = []
    left_out = 0
    for hit in hits:
        field = next((name for name in hit.get("inner_hits", {}) if name.startswith(INNER_HITS_PREFIX)), None)
        if field is None:
            ranked.append(_RankedHit(hit))
            continue
        inner = hit["inner_hits"][field]["hits"]
        mates = [mate for mate in inner["hits"] if _key(mate) != _key(hit)]
        size, counted = _counted(inner)
        if any(hit.get("fields", {}).get(field.removeprefix(INNER_HITS_PREFIX), ())):
            ranked.append(_RankedHit(hit, mates, max(size, 1 + len(mates)), counted))
        else:
            ranked += (_RankedHit(hit), *map(_RankedHit, mates))
            left_out += max(size - 1 - len(mates), 0)
    scores: list[Any] = [hit.get("_score") for hit in hits]
    if None not in scores and scores == sorted(scores, reverse=True):  # sort documents taken out of a cluster by score
        ranked.sort(key=lambda each: each.hit.get("_score") or 0.0, reverse=True)
    return ranked, left_out


def _key(hit: Hit) -> tuple[Any, Any]:
    return hit.get("_index"), hit.get("_id")


def _counted(hits: Mapping[str, Any]) -> tuple[int, bool]:
    """Return the total of hits, which engines write in one of two ways, and whether it is exact."""
    total = hits.get("total")
    if isinstance(total, int):
        return total, True
    return (total["value"], total["relation"] == "eq") if total else (0, False)


def response_total(response: Mapping[str, Any]) -> int | None:
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


def hit_member(hit: Hit, similarity: Similarity) -> HitMember:
    return HitMember(hit, similarity.resemblance, "estimate" if similarity.error else "exact", similarity.error)
