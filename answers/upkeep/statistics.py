"""The figures of a store and of its clustering, and sentences about them."""

from __future__ import annotations

from collections.abc import Iterator

from opensearch_winnow.answers.formatting import count_of
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


def figures_summary(figures: StoreFigures) -> Iterator[str]:
    """Yield sentences about a store: its pages, anomalies among them, and its scheme."""
    period = f", {figures.first} to {figures.last}" if figures.first else ""
    captures = count_of(figures.pages, "page (capture)", "pages (captures)")
    yield f"{captures} of {count_of(figures.urls, 'URL')} on {count_of(figures.sites, 'site')}{period}"
    if figures.undated:
        yield f"{count_of(figures.undated, 'capture has', 'captures have')} no date, or one that cannot be right"
    if figures.unfilled_revisits:
        revisits = count_of(figures.unfilled_revisits, "revisit has", "revisits have")
        yield f"{revisits} no text: the original is not stored"
    copies = ", ".join(f"{how} {count:,}" for how, count in figures.duplicates.items())
    if copies:
        yield f"{count_of(sum(figures.duplicates.values()), 'duplicates', 'duplicate')} an earlier page: {copies}"
    if figures.stale is not None:
        stale = count_of(figures.stale, "document is", "documents are")
        yield f"{stale} new or changed since the last winnow attach --update"
    scheme = figures.scheme
    unit = "tokens" if scheme.form == "code" else "canonical characters"
    thresholds = f"K {scheme.noise:,}, T {scheme.guarantee:,}" if scheme.guarantees else f"K {scheme.noise:,}"
    others = ", letters that look alike are one" * scheme.fold_confusables + ", with a secret key" * scheme.keyed
    yield f"scheme {scheme.id}: {thresholds} {unit}, {scheme.selection}{others}"


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
