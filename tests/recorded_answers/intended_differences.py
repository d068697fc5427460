"""The intended differences between the recorded answers and those of today. A test fails when one no longer occurs.

A difference in many answers is one entry here, with its reason:

    Difference("what they score is no question", "json:*", recorded=renamed("asked", "score"))

What cannot be written so is recorded again. Then the change of the recording shows it.
"""

from __future__ import annotations

from typing import Any

from tests.recorded_answers.recording import Difference, renamed, without


def _other_pages(answer: Any) -> Any:
    """Remove from the members of each hit the page that is shown for the group."""
    if isinstance(answer, dict):
        changed = {key: _other_pages(each) for key, each in answer.items()}
        if "url" in changed and isinstance(changed.get("members"), list):
            changed["members"] = [url for url in changed["members"] if url != changed["url"]]
        return changed
    return [_other_pages(each) for each in answer] if isinstance(answer, list) else answer


def _score_and_minimum(answer: Any) -> Any:
    """Rename the score that orders matches, and its minimum."""
    if isinstance(answer, dict):
        names = {"asked": "score", "threshold": "min_score"} if "asked" in answer else {}
        return {names.get(key, key): _score_and_minimum(each) for key, each in answer.items()}
    return [_score_and_minimum(each) for each in answer] if isinstance(answer, list) else answer


IN_COMMAND_ONLY = (
    "candidates",
    "engine",
    "edges",
    "largest",
    "largest_clusters",
    "expected_recall",
    "changed",
    "fresh",
)


def _flat_clustering(answer: Any) -> Any:
    """Return an answer of the API with the last clustering as it was told: without some keys, and no object in it."""
    clustering = answer["json"]["clustering"]
    told = {key: value for key, value in clustering.items() if key not in IN_COMMAND_ONLY}
    told |= {key: clustering["candidates"][key] for key in ("compared", "histogram")}
    return answer | {"json": answer["json"] | {"clustering": told}}


INTENDED: dict[str, list[Difference]] = {  # by the name of the recording
    "json": [
        Difference(
            "members of a cluster are not those of a group: the list has one capture for each URL of the cluster",
            "api: GET /clusters/*",
            recorded=renamed("members", "listed_pages"),
        ),
        Difference("the score that orders matches has one name, and so has its minimum", "*", _score_and_minimum),
        *(
            Difference(
                "a clustering has the same keys in the API as in winnow cluster --json",
                questions,
                today=_flat_clustering,
            )
            for questions in ("api: GET /clusters*", "api: GET /statistics*")
        ),
        Difference(
            "figures of a store have the same keys everywhere", "command: winnow stats*", today=without("common_texts")
        ),
        Difference("members are the other pages of a group", "*search*", recorded=_other_pages),
        Difference("pairs have a minimum score", "command: winnow pairs *", recorded=renamed("threshold", "min_score")),
        Difference("what is told of the members is called so", "*search*", recorded=renamed("similar", "member_pages")),
        Difference("the least resemblance has one name", "*search*", recorded=renamed("threshold", "min_resemblance")),
        Difference("all lists of captures name their sites", "*locate*", today=without("site")),
        Difference("a comparison has all of its keys", "*compare*", today=without("removed", "added")),
        Difference("a text is no capture, which is null", "api: POST /compare*", today=without("a", "b")),
        Difference(
            "a file is no capture, and has no boilerplate",
            "command: winnow compare *.txt*",
            today=without("a", "b", "boilerplate"),
        ),
        Difference(
            "a check tells how many watches it has checked, as the API does",
            "command: winnow watch check*",
            recorded=without("total"),
            today=without("total"),
        ),
    ],
    "attached": [
        Difference(
            "the least resemblance has one name",
            "gateway address: parameters={'winnow_min_resemblance': 2}",
            recorded=lambda answer: answer | {"reason": answer["reason"].replace("threshold", "min_resemblance")},
        ),
    ],
}
