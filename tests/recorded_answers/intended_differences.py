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


INTENDED: dict[str, list[Difference]] = {  # by the name of the recording
    "json": [
        Difference(
            "members of a cluster are not those of a group: the list has one capture for each URL of the cluster",
            "api: GET /clusters/*",
            recorded=renamed("members", "listed_pages"),
        ),
        Difference("members are the other pages of a group", "*search*", recorded=_other_pages),
        Difference("what is told of the members is called so", "*search*", recorded=renamed("similar", "member_pages")),
        Difference("the least resemblance has one name", "*search*", recorded=renamed("threshold", "min_resemblance")),
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
