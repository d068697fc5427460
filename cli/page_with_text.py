"""A page of a store whose text is needed."""

from __future__ import annotations

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.index import Index
from opensearch_winnow.mappings.record import Record


def page_with_text(index: Index, url: str) -> Record:
    """The latest capture of the URL. A store may have been filled without texts, and a revisit comes without one."""
    page = index.page(url)
    if not page.text:
        raise QuestionError(f"{index.name} does not have the text of {url}")
    return page
