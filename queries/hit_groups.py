"""Groups the hits of any search, from the response that an engine's client returns."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.dsl.deduplicate_search_body import COUNTS, INNER_HITS_PREFIX
from opensearch_winnow.queries.dsl.ranked import CLUSTERS, UNCLUSTERED
from opensearch_winnow.queries.hit_documents import FieldTexts, Hit, HitDocuments
from opensearch_winnow.queries.representatives import Representatives, Similarity


class ClientResponse(Protocol):
    """The response of elasticsearch-py 8 and later, which is no mapping."""

    @property
    def body(self) -> Any: ...


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


class ListOfGroups:
    """The methods of an answer that behaves like the list of its groups."""

    __slots__ = ()
    groups: list[HitGroup]

    def __len__(self) -> int:
        return len(self.groups)

    def __iter__(self) -> Iterator[HitGroup]:
        return iter(self.groups)

    def __getitem__(self, index: int) -> HitGroup:
        return self.groups[index]


@dataclass(frozen=True, slots=True)
class HitGroups(ListOfGroups):
    """The groups among the hits of a response, in its order. Behaves like a list of groups."""

    groups: list[HitGroup]
    total: int | None  # documents that match the query; None if the engine has not counted all
    count: int | None  # groups among them; None if the response does not hold all of them
    about: int | None  # the engine's estimate of the clusters among them; None if the query did not ask for it
    left_out: int  # documents without a cluster that the engine has not returned; ask for more members to see them
    without_fields: int = 0  # hits without our fields, each a group of its own; if these are all, check `below`


def group_hits(
    response: Mapping[str, Any] | ClientResponse | str | bytes,
    threshold: float = 0.5,
    *,
    scheme: Scheme = Scheme(),
    below: str = "",
    text: str | Sequence[str] = "text",
) -> HitGroups:
    """Group the hits of a `response`: what `search` of opensearch-py or elasticsearch-py returns, or its JSON.

    Each hit joins the first group whose representative it resembles by at least `threshold`, or starts a new group.
    The hits need the fields `minhash` and `shingle_count`, in `_source` or among `docvalue_fields`; `below` names the
    object field that holds them, if there is one. A hit without them is a group of its own. `scheme` is the scheme of
    the hashes.

    `text` names the field, or the fields in their order, with the text that was fingerprinted. If the hits have it, it
    decides pairs near the threshold. If they have `text_digest` as well, and it is the digest of another text, then the
    fields are stale: the sketches are computed from the text instead.

    In the response to a body of `deduplicate_search_body`, the documents of a cluster stay together; documents without
    a cluster are grouped one by one.
    """
    texts = FieldTexts([text] if isinstance(text, str) else text)
    documents = HitDocuments(scheme, f"{below}." if below else "", texts)
    answer = response_body(response)
    ranked, left_out = _ranked_hits(answer)
    places = [documents.add(each.hit) for each in ranked]
    batch = Representatives(scheme, threshold).begin([documents.sketched[place] for place in places])
    while pairs := batch.undecided:
        batch.settle(documents.resemblances(pairs))
    groups: dict[int, list[HitMember]] = {}
    sizes: dict[int, int] = {}
    for place, each, join in zip(places, ranked, batch.joins, strict=True):
        representative = place if join is None else join.representative
        members = groups.setdefault(representative, [])
        if join is not None:
            members.append(hit_member(each.hit, join.similarity))
        members += (hit_member(mate, documents.similarity(representative, documents.add(mate))) for mate in each.mates)
        sizes[representative] = sizes.get(representative, 0) + each.size
    total = response_total(answer)
    seen = sum(each.size for each in ranked) if all(each.counted for each in ranked) else None
    return HitGroups(
        groups=[HitGroup(documents.hits[place], members, sizes[place]) for place, members in groups.items()],
        total=total,
        count=len(groups) if total is not None and total == seen else None,
        about=_about(answer),
        left_out=left_out,
        without_fields=documents.without_fields,
    )


# --- reading a response -----------------------------------------------------------------------------------------------


def response_body(response: Mapping[str, Any] | ClientResponse | str | bytes) -> Mapping[str, Any]:
    """Return the response to a search as a mapping. What has no hits raises a QuestionError."""
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
    if None not in scores and scores == sorted(scores, reverse=True):  # documents taken out of a cluster go by score
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
