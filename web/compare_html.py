"""The comparison of two texts as one HTML file: no script, and nothing from outside."""

from __future__ import annotations

from collections.abc import Sequence

from opensearch_winnow.answers.compared import Compared, ComparedText
from opensearch_winnow.answers.comparison_words import comparison_summary
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.compare import Comparison
from opensearch_winnow.queries.numbered_passages import NumberedPassage
from opensearch_winnow.web.compared_panes import whole_panes
from opensearch_winnow.web.one_file import OneFile
from opensearch_winnow.web.pages import Pages


def compare_html(
    a: tuple[str, str], b: tuple[str, str], comparison: Comparison, passages: Sequence[NumberedPassage], scheme: Scheme
) -> str:
    """The page. A and B are names and texts."""
    one, other = (ComparedText(id=each[0], title=each[0], text=each[1]) for each in (a, b))
    compared = Compared.of(one, other, comparison, passages, scheme)
    page = Pages().render(
        "compare_file",
        file=OneFile.of("winnow.css", "passages.css"),
        heading=comparison_summary(one.text, other.text, comparison, passages),
        compared=compared,
        view=whole_panes(compared),
    )
    return page.decode()
