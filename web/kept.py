"""What the server keeps from one request to the next. All of it is gone when it ends."""

from __future__ import annotations

from dataclasses import dataclass, field

from opensearch_winnow.web.clustering_run import ClusteringRun
from opensearch_winnow.web.kept_statistics import KeptStatistics
from opensearch_winnow.web.pasted_texts import PastedTexts


@dataclass(frozen=True, slots=True)
class Kept:
    clustering: ClusteringRun
    pasted: PastedTexts = field(default_factory=PastedTexts)
    statistics: KeptStatistics = field(default_factory=KeptStatistics)
