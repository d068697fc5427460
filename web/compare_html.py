"""The comparison of two texts as a single HTML file, without scripts or external resources."""

from __future__ import annotations

from collections.abc import Sequence

from opensearch_winnow.answers.asking.compared import Compared, ComparedText
from opensearch_winnow.answers.asking.comparison_words import comparison_summary
from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.asking.numbered_passages import NumberedPassage
from opensearch_winnow.queries.compare import Comparison
from opensearch_winnow.web.pages import InlineStyle, Pages
from opensearch_winnow.web.texts.compared_panes import whole_panes


def compare_html(
    a: tuple[str, str], b: tuple[str, str], comparison: Comparison, passages: Sequence[NumberedPassage], scheme: Scheme
) -> str:
    """Return the HTML of the comparison. `a` and `b` are each a name and a text; programs are known by their names."""
    one, other = (ComparedText(id=each[0], title=each[0], text=each[1]) for each in (a, b))
    compared = Compared.of(one, other, comparison, passages, scheme)
    code = scheme.form == "code" or all(is_program(name) and "://" not in name for name in (a[0], b[0]))
    page = Pages().render(
        "compare_file",
        style=InlineStyle.of("winnow.css", "texts.css", "passages.css"),
        heading=comparison_summary(one.text, other.text, comparison, passages),
        compared=compared,
        view=whole_panes(compared, code=code),
    )
    return page.decode()
