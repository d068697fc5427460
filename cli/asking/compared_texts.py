"""Reads the two texts of a comparison, from files or from a store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from opensearch_winnow.answers.asking.compared import ComparedText
from opensearch_winnow.cli.text_file import STDIN, read_text, visible_text
from opensearch_winnow.foundation.errors import FileError
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate


class ComparedTexts(NamedTuple):
    """Two texts, and the scheme and boilerplate to compare them with."""

    a: ComparedText
    b: ComparedText
    scheme: Scheme
    boilerplate: Sequence[Boilerplate] = ()


def is_file(name: str) -> bool:
    return name == STDIN or Path(name).exists()


def compared_texts(
    a: str,
    b: str | None,
    store: str | None,
    scheme: Scheme | None,
    *,
    at: Sequence[datetime] = (),
    boilerplate: bool = True,
) -> ComparedTexts:
    """Read A and B: each is a file if one of that name exists, otherwise a page in the store, by its URL or id.

    `at` has the dates of A and B, or one for both. Without B, the captures of A at these dates are compared: by default
    the last two, and with one date that capture and the latest. `scheme` defaults to the store's. With a store,
    HTML files are read as its pages were; without one, they are compared as text, tags and all.
    """
    if store is None:
        for name in filter(None, (a, b)):
            if not is_file(name):
                raise FileError(
                    f"there is no file {name}; check the name, use - to read from a pipe, or name the --store that has"
                    " a page with this URL"
                )
        return ComparedTexts(_file(a, read_text(a)), _file(b or a, read_text(b or a)), with_key(scheme or Scheme()))
    # Imported here because it takes a while, and a comparison of files does not need it.
    from opensearch_winnow.answers.asking.compared_captures import capture_text, last_two_texts  # noqa: PLC0415
    from opensearch_winnow.index import Index  # noqa: PLC0415

    with Index.open(store, create=False) as index:
        chosen = scheme or index.scheme

        def text(name: str, date: datetime | None) -> ComparedText:
            if not is_file(name):
                return capture_text(index, name, date, dated=b is None or date is not None)
            return _file(name, read_text(name) if chosen.form == "code" else visible_text(name, index.prepare))

        if b is None and not at:
            one, other = last_two_texts(index, a)
        else:
            first = at[0] if at else None
            second = at[1] if len(at) > 1 else (None if b is None else first)
            one, other = text(a, first), text(b or a, second)
        return ComparedTexts(one, other, chosen, index.boilerplate() if boilerplate else ())


def _file(name: str, text: str) -> ComparedText:
    return ComparedText(id=name, text=text, url=None if name == STDIN else name, title=name)
