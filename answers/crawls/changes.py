"""The changes between two crawls: a part of the list, and in words."""

from __future__ import annotations

from opensearch_winnow.answers.formatting import count_of
from opensearch_winnow.foundation.answers import answer, key
from opensearch_winnow.operations.crawls.changes import KINDS, ChangeKind, Changes

KIND_NAMES: dict[ChangeKind, str] = {kind: kind.replace("not_seen", "not seen again") for kind in KINDS}
ELSEWHERE_OR_GONE: tuple[ChangeKind, ...] = ("moved", "split", "merged", "not_seen")  # in this order in a summary
# Crawls without a URL in common may be of other sites: then a page has not moved, but was copied.
APART_NAMES: dict[ChangeKind, str] = {"moved": "moved or copied", "merged": "merged or copied"}


@answer
class ChangesPage(Changes):
    """A page of the list of changes."""

    found: int = key("The number of changes of the wanted kinds, listed or not.")
    more: bool = key("True if another page of the list follows.")
    reason: str | None = key(
        "The reason why there is nothing to compare, if neither crawls nor dates were given; otherwise null."
    )


def kind_names(changes: Changes) -> dict[ChangeKind, str]:
    """Return the names of the kinds of changes."""
    return KIND_NAMES | (APART_NAMES if changes.are_apart else {})


def changes_summary(changes: Changes) -> str:
    """Sum up changes: "12 of 340 pages changed, 2 moved, 3 are new".

    Crawls without a URL in common have no changed pages. Pages without a text to compare are counted beside the changed
    ones.
    """
    counts = changes.counts
    new, without_text = counts["new"], changes.without_text
    news = f", {new:,} {'is' if new == 1 else 'are'} new" if new else ""
    if changes.are_apart:
        return f"No URL in common, {elsewhere_clause(changes)}{news}"
    changed = f"{counts['changed']:,}" if counts["changed"] else "None"
    unknown = f" or may have changed ({without_text_clause(changes)})" if without_text else ""
    others = "".join(f", {counts[kind]:,} {KIND_NAMES[kind]}" for kind in ELSEWHERE_OR_GONE if counts[kind])
    return f"{changed} of {count_of(changes.earlier, 'page')} changed{unknown}{others}{news}"


def without_text_clause(changes: Changes) -> str:
    """Say how many pages cannot be compared: "2 have no text to compare"."""
    return f"{count_of(changes.without_text, 'has', 'have')} no text to compare"


def elsewhere_clause(changes: Changes) -> str:
    """Say how many earlier pages have their text at another URL: "2 of 8 pages have their text at another URL"."""
    counts = changes.counts
    found = counts["moved"] + counts["split"] + counts["merged"]
    if changes.earlier == 1:
        return f"the text of the only page is at {'another' if found else 'no other'} URL"
    have = "have their" if found > 1 else "has its"
    return f"{f'{found:,}' if found else 'none'} of {changes.earlier:,} pages {have} text at another URL"
