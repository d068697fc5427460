"""An overview of a store, with its clustering."""

from __future__ import annotations

from datetime import datetime

from opensearch_winnow.answers.clusters.store_clusters import RunningClustering
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.operations.upkeep.overview import Overview


@answer
class StoreAtAGlance(Answer):
    """The state of a store. Its pages are counted at intervals."""

    captures: int = key("The number of captures that the store has now.")
    at: datetime | None = key("The time of the last clustering; null if there was none.")
    clustered: int | None = key("The number of captures that the store had then.")
    running: RunningClustering | None = key("The clustering in progress; null if there is none.")
    failure: str | None = key("The reason why the last clustering failed, in a sentence; null if it did not.")
    overview: Overview | None = key("The contents of the store; null while they are counted for the first time.")
