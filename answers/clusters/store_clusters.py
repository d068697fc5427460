"""The clusters of a store, with the run that found them and the run in progress."""

from __future__ import annotations

from opensearch_winnow.clusters.result import LastClustering
from opensearch_winnow.foundation.answers import Answer, answer, key
from opensearch_winnow.operations.clusters.cluster_list import ClusterList


@answer
class RunningClustering(Answer):
    """A clustering run in progress."""

    phase: str = key("The current phase.")
    done: int = key("The amount of this phase that is done.")
    total: int | None = key("The whole amount; null if it is unknown.")
    seconds: float = key("The time since the start.")
    stopping: bool = key("True if the run was told to stop.")


@answer
class StoreClusters(ClusterList):
    """A list of clusters, and the state of the store. The last clustering may be older than the pages."""

    pages: int = key("The number of captures that the store has now.")
    clustering: LastClustering | None = key("The last clustering; null if there was none.")
    running: RunningClustering | None = key("The run in progress; null if there is none.")
    failure: str | None = key("The reason why the last run failed, in a sentence; null if it did not.")
