"""The statistics screen: the size of the store, the resemblance of its pages, and repeated texts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from opensearch_winnow.answers.formatting import bins, byte_size, count_of
from opensearch_winnow.answers.upkeep.statistics import CountedStore, power_law_sentences
from opensearch_winnow.clusters.result import LastClustering
from opensearch_winnow.index import Index
from opensearch_winnow.operations.upkeep.common_texts import phrase_query
from opensearch_winnow.operations.upkeep.power_law import PowerLaw, zeta
from opensearch_winnow.operations.upkeep.store_figures import StoreFigures
from opensearch_winnow.web.charts import size_plot
from opensearch_winnow.web.charts.axes import Frame, chart
from opensearch_winnow.web.charts.bar_charts import (
    PAIR_FRAME,
    TIME_FRAME,
    bar_range,
    pair_histogram,
    time_bars,
    time_periods,
)
from opensearch_winnow.web.charts.log_plot import LogPlot
from opensearch_winnow.web.screen import Action, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

WAIT_SECONDS = 20  # for the first count of a large store
FRAME = Frame()

Row = tuple[str, str | None, Sequence[int]]  # of the table below a chart: a name, its link, and its numbers


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    counted = request.state.statistics.get(index, WAIT_SECONDS)
    found = CountedStore(replace(counted, store=request.state.store_name), index.clustering())
    return ScreenAnswer(found, lambda: _template_values(found) | {"captures": index.count()})


def _template_values(found: CountedStore) -> dict[str, Any]:
    figures, clustering = found.figures, found.clustering
    fingerprints = dict(figures.tokens["fingerprints"].frequencies)
    periods = time_periods(figures.months)
    return {
        "figures": figures,
        "heading": heading(figures),
        "byte_size": byte_size,
        "histogram": _svg(_histogram(clustering)) if clustering and clustering.candidates.compared else None,
        "sizes": _svg(_sizes(clustering)) if clustering and clustering.sizes else None,
        "frequencies": _svg(_frequencies(fingerprints, figures.power_law)) if fingerprints else None,
        "time_bars": _svg(_time_bars(periods)) if len(periods) > 1 else None,
        "rows": {
            "pairs": _pairs(clustering.candidates.histogram) if clustering else [],
            "sizes": _size_rows(clustering) if clustering else [],
            "frequencies": [(label, None, [tokens]) for label, tokens in bins(fingerprints)],
            "periods": [
                (period, f"/search?since={period}&until={period}", [pages])
                for period, pages in periods.items()
                if pages
            ],
        },
        "law": list(map(_with_powers, power_law_sentences(figures.power_law))),
        "undated": figures.pages - sum(figures.months.values()),
        "phrases": [search_link(each.phrase) for each in figures.common_texts or ()],
    }


def heading(figures: StoreFigures) -> str:
    if not figures.pages:
        return "This store is empty"
    pages = f"{count_of(figures.urls, 'page')} on {count_of(figures.sites, 'site')}"
    return pages if figures.urls == figures.pages else f"{count_of(figures.pages, 'capture')} of {pages}"


def _svg(pieces: Iterator[str]) -> Markup:
    return Markup("").join(map(Markup, pieces))


def _histogram(clustering: LastClustering) -> Iterator[str]:
    title = "Compared pairs by resemblance; heights are logarithmic"
    return chart(PAIR_FRAME, title, pair_histogram(clustering.candidates.histogram, clustering.threshold))


def _sizes(clustering: LastClustering) -> Iterator[str]:
    plot = LogPlot(clustering.sizes, FRAME, low=2)

    def drawn() -> Iterator[str]:
        yield from plot.axes(size_plot.AXES)
        yield from plot.steps(clustering.identical_sizes)
        yield from plot.steps()
        yield from plot.points(
            size_plot.point_label
        )  # no links: these are captures, and a list of clusters counts URLs

    return chart(FRAME, "Clusters by their number of pages; both axes are logarithmic", drawn())


def _frequencies(counts: dict[int, int], law: PowerLaw | None) -> Iterator[str]:
    plot = LogPlot(counts, FRAME)

    def point_label(pages: int, tokens: int) -> str:
        return f"{count_of(tokens, 'fingerprint')} on {count_of(pages, 'page')}"

    def drawn() -> Iterator[str]:
        yield from plot.axes(("pages with the fingerprint", "fingerprints"))
        if law is not None:
            yield from plot.power(sum(counts.values()) / zeta(law.exponent), law.exponent)
        yield from plot.points(point_label, radius=3, every_point=False)

    return chart(FRAME, "Fingerprints by the number of pages they are on; both axes are logarithmic", drawn())


def _pairs(bars: Sequence[int]) -> list[Row]:
    return [(bar_range(i, len(bars)), None, [pairs]) for i, pairs in enumerate(bars) if pairs]


def _size_rows(clustering: LastClustering) -> list[Row]:
    identical = clustering.identical_sizes
    return [(f"{size:,}", None, [clusters, identical.get(size, 0)]) for size, clusters in clustering.sizes.items()]


def _time_bars(periods: dict[str, int]) -> Iterator[str]:
    return chart(TIME_FRAME, "Pages by the time of their capture", time_bars(periods))


def _with_powers(line: str) -> Markup:
    # html.escape returns a plain string: the one of markupsafe would also escape the <sup> tags.
    return Markup(re.sub(r"\^(−?[\d.]+)", r"<sup>\1</sup>", escape(line[0].upper() + line[1:])))


def search_link(phrase: str) -> str:
    """Return the address of a search for the pages that contain a phrase."""
    return f"/search?{urlencode({'words': phrase_query(phrase), 'all_captures': 'on'})}"


def count_again(_index: Index, request: ScreenRequest) -> str:
    request.state.statistics.expire()
    return SCREEN.path


SCREEN = Screen(
    name="statistics",
    path="/statistics",
    api="/statistics",
    summary="The size of the store, the resemblance of its pages, and repeated texts",
    answer=answer,
    returns=CountedStore,
)
COUNT_AGAIN = Action(name="count-again", path="/statistics/again", summary="Count everything again", act=count_again)
