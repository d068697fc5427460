"""What a search found, as JSON values."""

from __future__ import annotations

from typing import Any

from opensearch_winnow.answers.capture_time import time_stamp
from opensearch_winnow.queries.results import Member, SearchResults


def search_document(results: SearchResults, seconds: float) -> dict[str, Any]:
    return {
        "total": results.total,
        "groups": results.groups,
        "groups_at_least": results.at_least,
        "groups_at_most": results.at_most,
        "groups_about": results.about,
        "examined": results.examined,
        "seconds": round(seconds, 6),
        "by": results.by,
        "threshold": results.threshold,
        "cursor": results.cursor,
        "facets": {name: [each._asdict() for each in counts] for name, counts in results.facets.items()},
        "folded": [{"url": each.url, "member": _member(each.member)} for each in results.folded],
        "hits": [
            {
                "id": hit.card.id,
                "url": hit.card.url,
                "title": hit.card.title,
                "site": hit.card.site,
                "fetched_at": time_stamp(hit.card),
                "score": hit.score,
                "snippet": hit.snippet,
                "marks": hit.marks,
                "title_marks": hit.title_marks,
                "cluster": hit.card.cluster,
                "members": [hit.card.url, *(member.url for member in hit.members)],
                "similar": [_member(member) for member in hit.members],
            }
            for hit in results.hits
        ],
    }


def _member(member: Member) -> dict[str, Any]:
    return member._asdict() | {"fetched_at": time_stamp(member)}
