"""Reads the two texts of a comparison, from files or from a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from opensearch_winnow.cli.text_file import STDIN, FileError, read_text, visible_text
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.boilerplate import Boilerplate

if TYPE_CHECKING:
    from opensearch_winnow.index import Index
    from opensearch_winnow.mappings.record import Record


class Text(NamedTuple):
    """One text of a comparison."""

    text: str
    name: str | None = None  # its path or URL, whose suffix tells the language of code
    site: str | None = None  # the site of a page


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    """Two texts, and the scheme and boilerplate to compare them with."""

    a: Text
    b: Text
    scheme: Scheme
    boilerplate: Sequence[Boilerplate] | None = None  # None if there is no store


def is_file(name: str) -> bool:
    return name == STDIN or Path(name).exists()


def compared_texts(
    a: str, b: str, store: str | None, scheme: Scheme | None, *, boilerplate: bool = True
) -> ComparedTexts:
    """Read A and B: each is a file if one of that name exists, otherwise the URL of a page in the store.

    `scheme` defaults to that of the store. With a store, HTML files are read as its pages were; without one, they are
    compared as text, tags and all.
    """
    if store is None:
        for name in (a, b):
            if not is_file(name):
                raise FileError(
                    f"there is no file {name}; check the name, use - to read from a pipe, or name the --store that has"
                    " a page with this URL"
                )
        return ComparedTexts(_whole_file(a), _whole_file(b), scheme or Scheme())
    # Imported here because it takes a while, which a comparison of files does not need.
    from opensearch_winnow.index import Index  # noqa: PLC0415
    from opensearch_winnow.stores.saved_recipe import recipe_for_run  # noqa: PLC0415

    with Index.open(store, create=False) as index:
        recipe = recipe_for_run(index.store)
        chosen = scheme or index.scheme

        def text(name: str) -> Text:
            if not is_file(name):
                page = page_with_text(index, name)
                return Text(page.text, page.url, page.site)
            if chosen.form == "code":
                return _whole_file(name)
            return Text(visible_text(name, recipe), None if name == STDIN else name)

        return ComparedTexts(text(a), text(b), chosen, index.boilerplate() if boilerplate else [])


def page_with_text(index: Index, url: str) -> Record:
    """Return the latest capture of a URL; raise QuestionError if the store was filled without texts."""
    page = index.page(url)
    if not page.text:
        raise QuestionError(f"{index.name} does not have the text of {url}")
    return page


def _whole_file(name: str) -> Text:
    return Text(read_text(name), None if name == STDIN else name)
