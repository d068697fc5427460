"""Finds the page that a question is about, or makes a record of a text that is not in the store."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import chain, product

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asking.similar_options import SimilarQuestion
from opensearch_winnow.queries.filters import MAX_URLS, Selection
from opensearch_winnow.stores.captures import captures, latest_capture
from opensearch_winnow.stores.saved_recipe import recipe_for_run
from opensearch_winnow.stores.store import Store

PASTED_URL = "pasted text"  # instead of a URL
WEB = ("http", "https")
WWW = "www."
CAPTURE_ID = re.compile(r"[0-9a-f]{32}")


class PageNotFoundError(QuestionError):
    """The store does not have a page. `known` is another spelling of its URL that the store has, if any."""

    def __init__(self, sentence: str, known: str | None = None) -> None:
        super().__init__(sentence)
        self.known = known


def no_text(page: Record) -> str:
    """Return "no text" and the reason, to follow "it has"; an empty string if the page has a text, stored or not."""
    if page.hashes.text_digest or page.text:  # a new document of an attached index has no digest yet
        return ""
    return (
        "no text: it is a revisit, and the page that it repeats is not stored"
        if page.duplicate == "revisit"
        else "no text"
    )


class PageFinder:
    """Finds pages in a store by URL or id, and makes records of pasted texts."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._cached_maker: tuple[Recipe, RecordMaker] | None = None

    def find(
        self,
        *,
        url: str | None = None,
        id_: str | None = None,
        text: str | None = None,
        html: str | bytes | None = None,
        at: datetime | None = None,
    ) -> Record:
        """Return the record of a page (`url`, until `at`), a capture, a `text` or `html`: exactly one must be given.

        `url` may be the id of a capture, too.
        """
        ways = {"url": url, "id": id_, "text": text, "html": html}
        given = [name for name, value in ways.items() if value is not None]
        if len(given) != 1:
            raise QuestionError(f"pass exactly one of url, id, text or html; given: {' and '.join(given) or 'none'}")
        if url is not None:
            return self.named(url, at)
        return self.text_record(text, html) if id_ is None else self.capture(id_)

    def in_question(self, question: SimilarQuestion) -> Record:
        """Return the record of the page or text that a question is about."""
        return self.find(url=question.url, id_=question.id, text=question.text, html=question.html, at=question.at)

    def latest(self, url: str, at: datetime | None = None) -> Record:
        """Return the latest capture of a URL; with `at`, the latest one until then."""
        found = latest_capture(self._store, url, at)
        if found is not None:
            return found
        if at is not None and captures(self._store, url, limit=1):
            raise PageNotFoundError(f"{self._store.name} has no capture of {url} until {at:%Y-%m-%d %H:%M:%S}", url)
        raise self.not_found(url)

    def named(self, name: str, at: datetime | None = None) -> Record:
        """Return the latest capture of the URL `name`, with `at` the latest one until then, or the capture of this id.

        A URL comes first, because documents of an attached index may have a URL that looks like an id.
        """
        if not CAPTURE_ID.fullmatch(name) or captures(self._store, name, limit=1):
            return self.latest(name, at)
        if at is not None:
            raise QuestionError(f"{name} is the id of one capture: give a URL to choose a capture by its date")
        return self.capture(name)

    def not_found(self, url: str) -> PageNotFoundError:
        """Return the error for a URL that the store does not have. It names another spelling that the store has."""
        known = known_spellings(self._store, [url]).get(url)
        hint = f"; there is {known}" if known else ""
        return PageNotFoundError(f"{self._store.name} has no page {url}{hint}", known)

    def capture(self, id_: str) -> Record:
        """Return the capture with this id."""
        found = self._store.read([id_], Record).get(id_)
        if found is None:
            raise PageNotFoundError(
                f"{self._store.name} has no capture {id_}: it may have been deleted; look for its URL"
            )
        return found

    def with_text(self, page: str | Record) -> Record:
        """Return the page of a URL or id, or the record `page` itself; raise if it has no text."""
        record = page if isinstance(page, Record) else self.named(page)
        if lack := no_text(record):
            raise QuestionError(f"{record.url} has {lack}")
        if not record.text:
            raise QuestionError(f"{self._store.name} does not have the text of {record.url}")
        return record

    def text_record(self, text: str | None, html: str | bytes | None, *, least: int = 1) -> Record:
        """Make the record of a text, or of HTML, that is not in the store: of `least` canonical characters or more."""
        return self._record_of(Page(PASTED_URL, html=html, text=text), self._maker(), least)

    def text_records(self, pages: Iterable[Page]) -> Iterator[Record | QuestionError]:
        """Make the records of several pages that are not in the store; an error for each that cannot be compared."""
        maker = self._maker()
        for page in pages:
            try:
                yield self._record_of(page, maker)
            except QuestionError as error:
                yield error

    def prepare(self, page: Page) -> Record | Skipped | Failed:
        """Make the record of a page that is not in the store with the store's own recipe, and with its text."""
        return self._maker().make(page)

    def _record_of(self, page: Page, maker: RecordMaker, least: int = 1) -> Record:
        made = maker.make(page)
        if not isinstance(made, Record):
            raise QuestionError(f"this text cannot be compared: {made.reason}")
        scheme = self._store.scheme
        length = len(canonical(made.text, scheme).chars) if made.hashes.shingle_count < least else least
        if length < least:
            units = "tokens" if scheme.form == "code" else "letters and digits"
            raise QuestionError(
                f"the text is too short: it has {length:,} {units}, and {self._store.name} needs at least {least:,}"
            )
        return made

    def _maker(self) -> RecordMaker:
        """Return a maker with the store's own recipe, so that HTML becomes the same text as in a page of the store."""
        recipe = recipe_for_run(self._store, text=True)
        if self._cached_maker is None or self._cached_maker[0] != recipe:
            self._cached_maker = recipe, RecordMaker(recipe)
        return self._cached_maker[1]


def known_spellings(store: Store, urls: Iterable[str]) -> dict[str, str]:
    """Return the other spellings of `urls` that the store has, by the given URL."""
    others = {url: list(spellings(url)) for url in urls}
    distinct = dict.fromkeys(chain.from_iterable(others.values()))
    there: set[str] = set()
    for some in batches(distinct, MAX_URLS):
        there.update(card.url for card in store.scan(Card, Selection(urls=tuple(some), latest=True)))
    known = ((url, next((other for other in some if other in there), None)) for url, some in others.items())
    return {url: other for url, other in known if other}


def spellings(url: str) -> Iterator[str]:
    """Yield other spellings of the same URL, the fewest changes first."""
    bare = url.partition("#")[0]
    scheme, separator, rest = bare.partition("://")
    found = list(_ends(bare))
    if not separator:
        found += _on_the_web("https", _with_lower_host(bare))
    elif scheme.lower() in WEB:
        found = _on_the_web(scheme.lower(), _with_lower_host(rest))
    yield from (other for other in dict.fromkeys(found) if other != url)


def _with_lower_host(rest: str) -> str:
    """Return an address without its scheme, with the host in lower case: only there, case makes no difference."""
    host = re.split("[/?*]", rest, maxsplit=1)[0]
    return host.lower() + rest.removeprefix(host)


def _on_the_web(scheme: str, rest: str) -> list[str]:
    """Return an address, then the same with another scheme, with or without "www.", or with another end."""
    hosts = (rest, rest.removeprefix(WWW) if rest.startswith(WWW) else f"{WWW}{rest}")
    schemes = (scheme, *(other for other in WEB if other != scheme))
    changes = sorted(product((0, 1), repeat=3), key=sum)
    return [f"{schemes[of_scheme]}://{_ends(hosts[of_host])[of_end]}" for of_host, of_scheme, of_end in changes]


def _ends(url: str) -> tuple[str, str]:
    """Return a URL, and the same with or without a slash at its end."""
    return url, url.removesuffix("/") if url.endswith("/") else f"{url}/"
