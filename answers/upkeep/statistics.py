"""The figures of a store, with those of its clustering, and sentences about them."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.clusters.result import LastClustering
from opensearch_winnow.foundation.answers import Tabular, answer, inlined, key
from opensearch_winnow.foundation.figures import Figure
from opensearch_winnow.operations.upkeep.power_law import PowerLaw
from opensearch_winnow.operations.upkeep.store_figures import StoreFigures


@answer
class CountedStore(Tabular):
    """The figures of a store, and of its last clustering."""

    row = Figure

    figures: StoreFigures = inlined()
    clustering: LastClustering | None = key("The last clustering; null if there was none.")

    def rows(self) -> Iterator[Figure]:
        """Yield all numbers of the store, and the distributions of the clustering."""
        yield from self.figures.rows()
        if self.clustering:
            yield from self.clustering.distributions()


def power_law_sentences(law: PowerLaw | None) -> Iterator[str]:
    """Yield sentences about a power law: its exponent, how well it fits, and its slope over rank."""
    if law is None:
        yield "no power law: every fingerprint is on one page only"
        return
    fit = "well" if law.distance < 0.05 else "roughly" if law.distance < 0.15 else "badly"
    yield f"power law: fingerprints ∝ pages^−{law.exponent:.2f} (± {law.error:.2g}), by maximum likelihood"
    off = f"{law.distance:.1%}".replace("%", " %")
    yield f"it fits {fit}: off by at most {off} of the fingerprints"
    if law.rank_slope is not None:
        yield f"as in the winnowing paper: frequency ∝ rank^{law.rank_slope:.2f}".replace("^-", "^−") + " (there −0.7)"
