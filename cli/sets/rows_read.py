"""Says which rows of a data set were not read, and how to read them."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from opensearch_winnow.answers.display_text import one_line
from opensearch_winnow.cli.terminal import say
from opensearch_winnow.foundation.path_names import PathName
from opensearch_winnow.foundation.some_of import some_of

MAX_NAMES = 5  # of files that were not read
TOO_LARGE = "larger than"  # the beginning of the reason for such a row


def failed_file(failed: PathName | None, to: PathName | None) -> PathName | None:
    """Return the file for rows that cannot be read: by default beside the output, if there is one."""
    return f"{os.fspath(to).rstrip('/')}.failed.jsonl" if to and failed is None else failed


def say_other_texts(names: Sequence[str]) -> None:
    """Say which files of folders were not read."""
    if names:
        listed = some_of(list(map(one_line, names)), MAX_NAMES)
        say(f"Not read, because the folder has files of rows: {listed}")


def say_failed(reasons: Counter[str], failed: PathName | None) -> None:
    """Name the file with the rows that could not be read, and the option for rows that are too large."""
    if reasons and failed:
        say(f"The failed rows are in {failed}.")
    if any(reason.startswith(TOO_LARGE) for reason in reasons):
        say("--max-row-size reads larger rows.")
