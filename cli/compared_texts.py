"""The two texts of a comparison, from files or from a store, and what they are compared with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from opensearch_winnow.cli.text_file import STDIN, FileError, read_text
from opensearch_winnow.cli.text_or_html import visible_text
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.boilerplate import Boilerplate


class Text(NamedTuple):
    text: str
    name: str | None = None  # a path or URL, which tells the language of code
    site: str | None = None  # of a page


@dataclass(frozen=True, slots=True)
class ComparedTexts:
    a: Text
    b: Text
    scheme: Scheme
    boilerplate: Sequence[Boilerplate] | None = None  # None: of files alone, where nothing is registered


def is_file(name: str) -> bool:
    return name == STDIN or Path(name).exists()


def compared_texts(
    a: str, b: str, store: str | None, scheme: Scheme | None, *, boilerplate: bool = True
) -> ComparedTexts:
    """A and B by their names: a file that exists, or else a URL of the store.

    Without a scheme, that of the store is taken. Of files alone, HTML is a text like any other; with a store it is read
    as its pages were.
    """
    if store is None:
        for name in (a, b):
            if not is_file(name):
                raise FileError(
                    f"there is no file {name}; check the name, use - for text that is piped in, or name the --store"
                    " that has a page of this URL"
                )
        return ComparedTexts(_as_it_is(a), _as_it_is(b), scheme or Scheme())
    # Only who asks a store waits for it.
    from opensearch_winnow.cli.page_with_text import page_with_text  # noqa: PLC0415
    from opensearch_winnow.index import Index  # noqa: PLC0415
    from opensearch_winnow.stores.kept_recipe import kept_recipe  # noqa: PLC0415

    with Index.open(store, create=False) as index:
        recipe = kept_recipe(index.store)
        chosen = scheme or index.scheme

        def text(name: str) -> Text:
            if not is_file(name):
                page = page_with_text(index, name)
                return Text(page.text, page.url, page.site)
            if chosen.form == "code":
                return _as_it_is(name)
            return Text(visible_text(name, recipe), None if name == STDIN else name)

        return ComparedTexts(text(a), text(b), chosen, index.boilerplate() if boilerplate else [])


def _as_it_is(name: str) -> Text:
    return Text(read_text(name), None if name == STDIN else name)
