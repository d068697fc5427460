"""The statistics screen: how much is in the store, how alike its pages are, and which texts repeat."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

from opensearch_winnow.answers.clusters.clusters_document import ClusteringDocument, clustering_document
from opensearch_winnow.answers.formatting import bins, byte_size, count_of
from opensearch_winnow.answers.upkeep.statistics_document import CountedDocument, power_law_sentences
from opensearch_winnow.index import Index
from opensearch_winnow.operations.upkeep.common_texts import phrase_query
from opensearch_winnow.operations.upkeep.power_law import PowerLaw, zeta
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
from opensearch_winnow.web.screen import Action, Cell, Screen, ScreenAnswer
from opensearch_winnow.web.screen_request import ScreenRequest

WAIT_SECONDS = 20  # for the first count of a large store
FRAME = Frame()

Row = tuple[str, str | None, Sequence[int]]  # of the table below a chart: a name, its link, and its numbers


def answer(index: Index, request: ScreenRequest) -> ScreenAnswer:
    counted = request.state.statistics.get(index, WAIT_SECONDS)
    document: CountedDocument = {
        **counted,
        "store": request.state.store_name,
        "clustering": clustering_document(index.clustering()),
    }
    return ScreenAnswer(document, lambda: _template_values(document) | {"captures": index.count()})


def _template_values(document: CountedDocument) -> dict[str, Any]:
    clustering = document["clustering"]
    law = PowerLaw(**document["power_law"]) if document["power_law"] else None
    fingerprints = dict(document["tokens"]["fingerprints"]["frequencies"])
    periods = time_periods(document["months"])
    return {
        "heading": heading(document),
        "byte_size": byte_size,
        "histogram": _svg(_histogram(clustering)) if clustering and clustering["compared"] else None,
        "sizes": _svg(_sizes(clustering)) if clustering and clustering["sizes"] else None,
        "frequencies": _svg(_frequencies(fingerprints, law)) if fingerprints else None,
        "time_bars": _svg(_time_bars(periods)) if len(periods) > 1 else None,
        "rows": {
            "pairs": _pairs(clustering["histogram"]) if clustering else [],
            "sizes": _size_rows(clustering) if clustering else [],
            "frequencies": [(label, None, [tokens]) for label, tokens in bins(fingerprints)],
            "periods": [
                (period, f"/search?since={period}&until={period}", [pages])
                for period, pages in periods.items()
                if pages
            ],
        },
        "law": list(map(_with_powers, power_law_sentences(law))),
        "undated": document["pages"] - sum(document["months"].values()),
        "phrases": [search_link(each["phrase"]) for each in document["common_texts"]],
    }


def heading(document: CountedDocument) -> str:
    if not document["pages"]:
        return "This store is empty"
    pages = f"{count_of(document['urls'], 'page')} on {count_of(document['sites'], 'site')}"
    captures = count_of(document["pages"], "capture")
    return pages if document["urls"] == document["pages"] else f"{captures} of {pages}"


def _svg(pieces: Iterator[str]) -> Markup:
    return Markup("").join(map(Markup, pieces))


def _histogram(clustering: ClusteringDocument) -> Iterator[str]:
    title = "Compared pairs by resemblance; heights are logarithmic"
    return chart(PAIR_FRAME, title, pair_histogram(clustering["histogram"], clustering["threshold"]))


def _sizes(clustering: ClusteringDocument) -> Iterator[str]:
    sizes, identical = (
        {int(size): clusters for size, clusters in counts.items()}
        for counts in (clustering["sizes"], clustering["identical_sizes"])
    )
    plot = LogPlot(sizes, FRAME, low=2)

    def drawn() -> Iterator[str]:
        yield from plot.axes(size_plot.AXES)
        yield from plot.steps(identical)
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


def _size_rows(clustering: ClusteringDocument) -> list[Row]:
    identical = clustering["identical_sizes"]
    return [
        (f"{int(size):,}", None, [clusters, identical.get(size, 0)]) for size, clusters in clustering["sizes"].items()
    ]


def _time_bars(periods: dict[str, int]) -> Iterator[str]:
    return chart(TIME_FRAME, "Pages by the time of their capture", time_bars(periods))


def _with_powers(line: str) -> Markup:
    # html.escape returns a plain string: the one of markupsafe would also escape the <sup> tags.
    return Markup(re.sub(r"\^(−?[\d.]+)", r"<sup>\1</sup>", escape(line[0].upper() + line[1:])))


def search_link(phrase: str) -> str:
    """Return the address of a search for the pages that contain a phrase."""
    return f"/search?{urlencode({'words': phrase_query(phrase), 'all_captures': 'on'})}"


def table(document: CountedDocument) -> Iterator[Sequence[Cell]]:
    """Yield a row for each number: the part it belongs to, its name, and its value."""
    yield "part", "name", "value"
    yield "scheme", "id", document["scheme"]["id"]
    yield "count", "pages", document["pages"]
    yield "count", "urls", document["urls"]
    yield "count", "sites", document["sites"]
    yield "count", "undated", document["undated"]
    yield "count", "unfilled_revisits", document["unfilled_revisits"]
    for part, counts in (
        ("crawl", document["crawls"]),
        ("site", document["top_sites"]),
        ("month", document["months"]),
        ("duplicate", document["duplicates"]),
        ("bytes", document["sizes"]),
    ):
        yield from ((part, name, count) for name, count in counts.items())
    for field, tokens in document["tokens"].items():
        yield from ((f"{field} on pages", str(on), count) for on, count in tokens["frequencies"])
    if document["power_law"]:
        yield "power law", "exponent", document["power_law"]["exponent"]
        yield "power law", "rank_slope", document["power_law"]["rank_slope"]
    clustering = document["clustering"]
    if clustering:
        yield from (("clusters of pages", size, clusters) for size, clusters in clustering["sizes"].items())
        identical = clustering["identical_sizes"]
        yield from (("clusters of identical pages", size, clusters) for size, clusters in identical.items())
        bars = len(clustering["histogram"])
        for i, pairs in enumerate(clustering["histogram"]):
            yield "pairs of resemblance", f"{i / bars:g}", pairs


def count_again(_index: Index, request: ScreenRequest) -> str:
    request.state.statistics.expire()
    return SCREEN.path


SCREEN = Screen(
    name="statistics",
    path="/statistics",
    api="/statistics",
    summary="How much is in the store, how alike its pages are, and which texts repeat",
    answer=answer,
    returns=CountedDocument,
    table=table,
)
COUNT_AGAIN = Action(name="count-again", path="/statistics/again", summary="Count everything again", act=count_again)
