"""The text of what somebody has sent: pasted, or as a file of text or HTML."""

from __future__ import annotations

from collections.abc import Mapping

from opensearch_winnow.index import Index
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import RecordMaker
from opensearch_winnow.ingest.sources.files import HEAD, HTML, TEXT, begins_as_html, is_text, type_of
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.stores.kept_recipe import kept_recipe
from opensearch_winnow.web.form import FormError
from opensearch_winnow.web.pasted_texts import PastedText

NAME = "pasted text"  # where a page has its URL


def sent_text(index: Index, form: Mapping[str, str | bytes]) -> PastedText:
    """What a reader sees of the `file`, the `html` or the `text`: HTML is read as the pages of the store were."""
    page, name = _page(form)
    made = RecordMaker(kept_recipe(index.store, text=True)).make(page)
    if not isinstance(made, Record):
        raise FormError(f"There is nothing to ask about: {made.reason}.")
    return PastedText(made.text, name)


def _page(form: Mapping[str, str | bytes]) -> tuple[Page, str]:
    """And the name of the file."""
    file, html, text = form.get("file"), form.get("html"), form.get("text")
    if isinstance(file, bytes) and file:
        name = str(form.get("file.filename", ""))
        head = file[:HEAD]
        kind = type_of(name, head)
        if kind != HTML and not is_text(head):
            raise FormError(f"{name or 'The file'} is no text and no HTML, but {kind}: send the text of it.")
        return Page(NAME, html=file, content_type=HTML if kind == HTML else TEXT), name
    if isinstance(html, str) and html:
        return Page(NAME, html=html), ""
    if isinstance(text, str) and text.strip():
        return (Page(NAME, html=text) if begins_as_html(text) else Page(NAME, text=text)), ""
    raise FormError('There is nothing to ask about: send a text, HTML or a file; as JSON, {"text": …} or {"html": …}.')
