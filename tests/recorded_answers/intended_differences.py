"""The intended differences between the recorded answers and those of today. A test fails when one no longer occurs.

A difference in many answers is one entry here, with its reason:

    Difference("the score has another name", "json:*", recorded=renamed("rating", "score"))

What cannot be written so is recorded again. Then the change of the recording shows it.
"""

from __future__ import annotations

from tests.recorded_answers.recording import Difference

INTENDED: dict[str, list[Difference]] = {}  # by the name of the recording
