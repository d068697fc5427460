"""The answers of attaching and detaching an index."""

from __future__ import annotations

from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.stores.opensearch.upkeep.setup import Step


@answer
class NewIndices(Answer):
    """The new indices that a template attaches."""

    patterns: list[str] = key("The patterns of their names.")
    after: str | None = key("The name of the last index before them; null if the template attaches new ones already.")


@answer
class AttachPlan(Answer):
    """The plan of attaching an index, which changes nothing."""

    store: str = key("The address of the index.")
    documents: int = key("The number of its documents.")
    stale: int = key("The number of documents that need new fields, at most.")
    unknown_formats: list[str] = key("The formats in which times may be written there, and which winnow does not know.")
    steps: list[Step] = key("The requests that create what is missing.")
    new_indices: NewIndices | None = key("The new indices that a template attaches; null without a template.")


@answer
class AttachReport(Answer):
    """The outcomes of the documents of an index."""

    store: str = key("The address of the index.")
    documents: int = key("The number of its documents.")
    done: int = key("The number of documents with a text that got fields, or other ones.")
    prepared: int = key("The number of these that had their hashes already, and the right ones.")
    unchanged: int = key("The number of documents with a text whose fields were up to date.")
    no_text: int = key("The number of documents without a text; each is in a cluster of its own.")
    failed: int = key("The number of documents that could not get fields.")
    times_unread: int = key("The number of documents with a time that cannot be read, or cannot be right.")
    addresses: int = key("The number of addresses, about; documents with the same one are captures of one page.")
    seconds: float = key("The time it took.")
    refused: dict[str, str] = key(
        "Of several indices, those whose documents could not get fields, each with the reason. They count as failed."
    )
    made: list[str] = key("The parts that were made in the engine, such as settings, scripts, and parts of templates.")
    new_indices: NewIndices | None = key("The new indices that a template attaches; null without a template.")
    failures: list[str]  # the first reasons why documents failed


@answer
class Detached(Answer):
    """The result of detaching an index."""

    index: str = key("The address of the index.")
    documents: int = key("The number of documents whose fields were removed.")
    removed: list[str] = key("The parts that were removed.")
    kept: dict[str, list[str]] = key("The parts that other indices need as well, and the names of these.")
    left: list[str] = key("The parts that somebody else has to remove, or to look at.")
    written_meanwhile: int = key(
        "The number of documents that got fields again, because some program still writes them."
    )
