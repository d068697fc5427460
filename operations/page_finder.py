"""What a question is about: a page of the store, or a text that is none of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asked import QuestionError
from opensearch_winnow.stores.captures import captures, latest_capture
from opensearch_winnow.stores.kept_recipe import kept_recipe
from opensearch_winnow.stores.store import Store

PASTED = "pasted text"  # where a page has its URL


class NotThereError(QuestionError):
    """A page that the store does not have."""

    def __init__(self, sentence: str, known: str | None = None) -> None:
        super().__init__(sentence)
        self.known = known  # a URL that it has, and that may be meant


class PageFinder:
    """Of one store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._made_by: tuple[Recipe, RecordMaker] | None = None

    def given(
        self,
        *,
        url: str | None = None,
        id_: str | None = None,
        text: str | None = None,
        html: str | bytes | None = None,
        at: datetime | None = None,
    ) -> Record:
        """The one of them that is given."""
        ways = {"url": url, "id": id_, "text": text, "html": html}
        given = [name for name, value in ways.items() if value is not None]
        if len(given) != 1:
            raise QuestionError(
                f"a question is a url, an id, a text or html: one of them, not {' and '.join(given) or 'none'}"
            )
        if url is not None:
            return self.latest(url, at)
        return self.pasted(text, html) if id_ is None else self.capture(id_)

    def latest(self, url: str, at: datetime | None = None) -> Record:
        """The latest capture of a URL; or the last one until `at`."""
        found = latest_capture(self._store, url, at)
        if found is not None:
            return found
        if at is not None and captures(self._store, url, limit=1):
            raise NotThereError(f"{self._store.name} has no capture of {url} until {at:%Y-%m-%d %H:%M:%S}", url)
        raise self.not_there(url)

    def not_there(self, url: str) -> NotThereError:
        """And how else it is called, if it is."""
        known = next((other for other in _spellings(url) if captures(self._store, other, limit=1)), None)
        hint = f"; there is {known}" if known else ""
        return NotThereError(f"{self._store.name} has no page {url}{hint}", known)

    def capture(self, id_: str) -> Record:
        found = self._store.read([id_], Record).get(id_)
        if found is None:
            raise NotThereError(f"{self._store.name} has no capture {id_}: it may have been deleted; look for its URL")
        return found

    def pasted(self, text: str | None, html: str | bytes | None) -> Record:
        made = self._maker().make(Page(PASTED, html=html, text=text))
        if not isinstance(made, Record):
            raise QuestionError(f"there is nothing to ask about: {made.reason}")
        scheme = self._store.scheme
        length = len(canonical(made.text, scheme).chars)
        if length < scheme.k:
            raise QuestionError(
                f"the text has {length:,} canonical characters (letters and digits), and the scheme of"
                f" {self._store.name} needs {scheme.k:,}: ask with a longer one"
            )
        return made

    def _maker(self) -> RecordMaker:
        """As the store is filled, so that a question in HTML becomes the text that a page of it became."""
        recipe = kept_recipe(self._store, text=True)
        if self._made_by is None or self._made_by[0] != recipe:
            self._made_by = recipe, RecordMaker(recipe)
        return self._made_by[1]


def _spellings(url: str) -> Iterator[str]:
    """How else the same page may be called."""
    yield url.removesuffix("/") if url.endswith("/") else f"{url}/"
    scheme, separator, rest = url.partition("://")
    if not separator:
        yield f"https://{url}"
        yield f"http://{url}"
    elif scheme in ("http", "https"):
        other = "http" if scheme == "https" else "https"
        yield f"{other}://{rest}"
        yield f"{scheme}://{rest.removeprefix('www.') if rest.startswith('www.') else f'www.{rest}'}"
