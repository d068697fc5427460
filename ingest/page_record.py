"""Makes the record of a page."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from opensearch_winnow.foundation import option_kinds as kinds
from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest, digest
from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.foundation.option_kinds import FLAG, Kind
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.foundation.time_period import EXAMPLES
from opensearch_winnow.foundation.written_time import is_in_future
from opensearch_winnow.ingest.canonical_link import canonical_url
from opensearch_winnow.ingest.encoding import encoding_of, to_text, to_utf8
from opensearch_winnow.ingest.extractors import Extracted, ExtractError, extractor
from opensearch_winnow.ingest.hashes import canonical_hashes
from opensearch_winnow.ingest.http_body import BodyError, decoded
from opensearch_winnow.ingest.lru_cache import LruCache
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.record import NO_HASHES, Hashes, Record

if TYPE_CHECKING:
    from opensearch_winnow.ingest.page import Page

MARKUP = ("text/html", "text/xml")  # the text/* types that are markup
MAX_PAGE_BYTES = 10_000_000  # once decoded: more than any page that a person would read through
MAX_CACHED_CHARS = 8_000_000  # of text: copies come in bursts, from a mirror or from a faulty server
UNREADABLE = (BodyError, ExtractError)  # raised for a page that cannot be read


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings by which pages become records, the same for all pages and workers of a run."""

    scheme: Scheme = Scheme()
    crawl: str = ""
    date: datetime | None = None  # of pages whose time is unknown
    extractor: str = "lxml"
    alt: bool = False  # count the alternative text of images as text
    title: bool = False  # count the title as part of the text
    text: bool = True  # keep the text; without it, a record has only its hashes
    max_page_size: int = MAX_PAGE_BYTES
    epoch: int = 0  # decides which fingerprints are stored, if the scheme stores a part of them

    def __post_init__(self) -> None:
        if self.date is not None and is_in_future(self.date):
            raise WinnowError(f"pages cannot be from {self.date:%Y-%m-%d}, which is in the future")


EXTRACTOR: Kind[str] = Kind(
    what="the name of an extractor",
    metavar="NAME",
    parse=str,
    schema={"type": "string"},
    choices=("lxml", "beautifulsoup", "trafilatura"),  # and plug-ins
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecipeOptions(Options):
    """The parts of a recipe that a run may choose. None stands for the choice of the first run, or the default."""

    error: ClassVar[type[WinnowError]] = WinnowError

    crawl: str = option("", kinds.text("NAME"), "A name for this crawl, to tell it from others.")
    date: datetime | None = option(
        None,
        kinds.START_OF_DATE,
        f"The time of pages that have none, such as files in a folder: {EXAMPLES}. Without it, indexing such a page"
        " again replaces it.",
    )
    extractor: str | None = option(
        None,
        EXTRACTOR,
        "How to find the text in HTML: lxml, beautifulsoup (lenient), trafilatura (main text only), or a plug-in.",
        unset="lxml",
    )
    alt: bool | None = option(
        None,
        FLAG,
        "Count the alternative text of images as text.",
        flag="--alt/--no-alt",
        unset="no-alt",
        advanced=True,
    )
    title: bool | None = option(
        None,
        FLAG,
        "Count the title as part of the text. It is stored in any case.",
        flag="--title/--no-title",
        unset="no-title",
    )
    text: bool | None = option(
        None,
        FLAG,
        "Keep the texts. Without them, the store is smaller, but scores are estimates, and there are no passages and no"
        " search.",
        flag="--text/--no-text",
        unset="text",
    )
    max_page_size: int = option(
        MAX_PAGE_BYTES, kinds.SIZE, "Pages larger than this, once decoded, fail.", unset="10M", advanced=True
    )


class Content(NamedTuple):
    """The part of a record that depends only on the bytes of the page."""

    digest: str
    text: str
    title: str | None
    hashes: Hashes
    canonical: str = ""  # as it is written: pages with the same bytes have different URLs
    base: str = ""


class RecordMaker:
    """Makes records. A page that equals a recent one, before or after decoding, is not parsed again."""

    def __init__(self, recipe: Recipe) -> None:
        self.recipe = recipe
        self._extract = extractor(recipe.extractor, alt=recipe.alt)
        self._contents: LruCache[Content] = LruCache(MAX_CACHED_CHARS)
        self._hashes: LruCache[Hashes] = LruCache(MAX_CACHED_CHARS)

    def make(self, page: Page) -> Record | Skipped | Failed:
        try:
            content = self._content(page)
        except UNREADABLE as error:
            return Failed(page, str(error))
        if not content.text and page.revisit_of is None:
            return Skipped(page.url, "no text", page.fetched_at)
        return Record(
            url=page.url,
            crawl=self.recipe.crawl,
            title=page.title or content.title,
            text=content.text if self.recipe.text else "",
            fetched_at=self.time_of(page),
            payload_digest=page.payload_digest,
            content_digest=content.digest,
            hashes=content.hashes,
            duplicate=None if page.revisit_of is None else "revisit",
            duplicate_of=page.revisit_of,
            source=page.source,
            canonical=canonical_of(page, content),
        )

    def time_of(self, page: Page) -> datetime | None:
        """Return the time of a capture: that of the page, or else the date of the run."""
        return page.fetched_at or self.recipe.date

    def content_digest(self, page: Page) -> str | None:
        """Return the content digest that the record of `page` would have, or None if the page cannot be read."""
        try:
            return self._content(page, digest_only=True).digest
        except BodyError:
            return None

    def read(self, page: Page) -> Extracted:
        """Return the text and the title of `page` without looking for an equal page first. May raise UNREADABLE."""
        text = page.text
        if text is not None and text.isascii() and len(text) <= self.recipe.max_page_size and not page.codings:
            return Extracted(text.strip(), None)  # as below, without two copies
        raw = _bytes(page)
        return Extracted("", None) if raw is None else self._text(page, self._decoded(page, raw))

    def _content(self, page: Page, *, digest_only: bool = False) -> Content:
        raw = _bytes(page)
        if raw is None:
            return Content("", "", None, NO_HASHES)
        context = (page.content_type, page.html is None, self._code_name(page))
        payload = digest(raw)
        content = self._contents.get((payload, page.codings, context))
        if content is None:
            body = self._decoded(page, raw)
            body_digest = payload if body is raw else digest(body)
            if digest_only:
                return Content(body_digest, "", None, NO_HASHES)
            content = self._contents.get((body_digest, (), context))
            if content is None:
                text, title, canonical_link, base = self._text(page, body)
                hashes = self._hashes_of(text, self._code_name(page)) if text else NO_HASHES
                content = Content(body_digest, text, title, hashes, canonical_link, base)
            for key in (payload, page.codings, context), (body_digest, (), context):
                self._contents.put(key, content, len(content.text))
        return content

    def _decoded(self, page: Page, raw: bytes) -> bytes:
        return decoded(raw, page.codings, self.recipe.max_page_size)

    def _text(self, page: Page, body: bytes) -> Extracted:
        found = self._extract_text(page, body)
        if self.recipe.title:
            found = found._replace(text="\n".join(filter(None, (found.title, found.text))))
        return found

    def _extract_text(self, page: Page, body: bytes) -> Extracted:
        if page.text is not None:
            return Extracted(body.decode().strip(), None)
        if is_plain(page.content_type):
            return Extracted(to_text(body, encoding_of(body, page.content_type, markup=False)).strip(), None)
        if isinstance(page.html, str):
            return self._extract(body)
        return self._extract(to_utf8(body, encoding_of(body, page.content_type)))

    def _code_name(self, page: Page) -> str | None:
        """Return the URL if it matters for the hashes: in code, it tells the programming language."""
        return page.url if self.recipe.scheme.form == "code" else None

    def _hashes_of(self, text: str, name: str | None) -> Hashes:
        scheme = self.recipe.scheme
        canon = canonical(text, scheme, name=name)
        text_digest = canonical_digest(canon)
        hashes = self._hashes.get(text_digest)
        if hashes is None:
            hashes = canonical_hashes(canon, text_digest, scheme, self.recipe.epoch)
            self._hashes.put(text_digest, hashes, len(text))
        return hashes


def canonical_of(page: Page, content: Content | Extracted) -> str | None:
    """Return the URL that `page` names as canonical in its HTML, or else in the server's header."""
    named = canonical_url(content.canonical, page.url, content.base) if content.canonical else None
    return canonical_url(page.canonical, page.url) if named is None and page.canonical else named


def _bytes(page: Page) -> bytes | None:
    source = page.text if page.html is None else page.html
    return source.encode("utf-8", "replace") if isinstance(source, str) else source


def is_plain(content_type: str | None) -> bool:
    """Return whether `content_type` stands for text without markup."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    return kind.startswith("text/") and kind not in MARKUP
