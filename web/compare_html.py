"""The comparison of two texts as a single HTML file, without scripts or external resources."""

from __future__ import annotations

from opensearch_winnow.answers.asking.compared import Compared
from opensearch_winnow.answers.asking.comparison_words import comparison_summary
from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.web.pages import InlineStyle, Pages
from opensearch_winnow.web.texts.compared_panes import whole_panes


def compare_html(compared: Compared) -> str:
    """Return the HTML of the comparison. Texts whose titles are file names of programs are shown as code."""
    names = [each.title or "" for each in (compared.a, compared.b)]
    code = compared.scheme.form == "code" or all(is_program(name) and "://" not in name for name in names)
    page = Pages().render(
        "compare_file",
        style=InlineStyle.of("winnow.css", "texts.css", "passages.css"),
        heading=comparison_summary(compared),
        compared=compared,
        view=whole_panes(compared, code=code),
    )
    return page.decode()
