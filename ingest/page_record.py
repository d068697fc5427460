"""Makes the record of a page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypedDict

from opensearch_winnow.foundation.canonical import canonical
from opensearch_winnow.foundation.digests import canonical_digest, digest
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.encoding import encoding_of, to_text, to_utf8
from opensearch_winnow.ingest.extractors import Extracted, ExtractError, extractor
from opensearch_winnow.ingest.hashes import Hashes, canonical_hashes
from opensearch_winnow.ingest.http_body import BodyError, decoded
from opensearch_winnow.ingest.lru_cache import LruCache
from opensearch_winnow.ingest.sources.split import Failed, Skipped
from opensearch_winnow.mappings.record import Record

if TYPE_CHECKING:
    from opensearch_winnow.ingest.page import Page

MARKUP = ("text/html", "text/xml")  # the text/* types that are markup
MAX_PAGE_BYTES = 10_000_000  # once decoded: more than any page that a person would read through
MAX_CACHED_CHARS = 8_000_000  # of text: copies come in bursts, from a mirror or from a faulty server


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings by which pages become records, the same for all pages and workers of a run."""

    scheme: Scheme = Scheme()
    crawl: str = ""
    extractor: str = "lxml"
    alt: bool = False  # count the alternative text of images as text
    title: bool = False  # count the title as part of the text
    text: bool = True  # keep the text; without it, a record has only its hashes
    max_page_size: int = MAX_PAGE_BYTES


class RecipeChoices(TypedDict, total=False):
    """The parts of a recipe that a run may choose. None stands for the choice of the first run, or the default."""

    crawl: str
    extractor: str | None
    alt: bool | None
    title: bool | None
    text: bool | None
    max_page_size: int


class Content(NamedTuple):
    """The part of a record that depends only on the bytes of the page."""

    digest: str
    text: str
    title: str | None
    hashes: Hashes


class RecordMaker:
    """Makes records. A page that equals a recent one, before or after decoding, is not parsed again."""

    def __init__(self, recipe: Recipe) -> None:
        self._recipe = recipe
        self._extract = extractor(recipe.extractor, alt=recipe.alt)
        self._contents: LruCache[Content] = LruCache(MAX_CACHED_CHARS)
        self._hashes: LruCache[Hashes] = LruCache(MAX_CACHED_CHARS)

    def make(self, page: Page) -> Record | Skipped | Failed:
        try:
            content = self._content(page)
        except (BodyError, ExtractError) as error:
            return Failed(page, str(error))
        if not content.text and page.revisit_of is None:
            return Skipped(page.url, "no text", page.fetched_at)
        return Record(
            url=page.url,
            crawl=self._recipe.crawl,
            title=page.title or content.title,
            text=content.text if self._recipe.text else "",
            fetched_at=page.fetched_at,
            payload_digest=page.payload_digest,
            content_digest=content.digest,
            **content.hashes._asdict(),
            duplicate=None if page.revisit_of is None else "revisit",
            duplicate_of=page.revisit_of,
        )

    def content_digest(self, page: Page) -> str | None:
        """Return the content digest that the record of `page` would have, or None if the page cannot be read."""
        try:
            return self._content(page, digest_only=True).digest
        except BodyError:
            return None

    def _content(self, page: Page, *, digest_only: bool = False) -> Content:
        source = page.text if page.html is None else page.html
        if source is None:
            return Content("", "", None, Hashes())
        raw = source if isinstance(source, bytes) else source.encode("utf-8", "replace")
        context = (page.content_type, page.html is None, self._code_name(page))
        payload = digest(raw)
        content = self._contents.get((payload, page.codings, context))
        if content is None:
            body = decoded(raw, page.codings, self._recipe.max_page_size)
            body_digest = payload if body is raw else digest(body)
            if digest_only:
                return Content(body_digest, "", None, Hashes())
            content = self._contents.get((body_digest, (), context)) or self._read(page, body, body_digest)
            for key in (payload, page.codings, context), (body_digest, (), context):
                self._contents.put(key, content, len(content.text))
        return content

    def _read(self, page: Page, body: bytes, body_digest: str) -> Content:
        extracted = self._extract_text(page, body)
        parts = (extracted.title, extracted.text) if self._recipe.title else (extracted.text,)
        text = "\n".join(filter(None, parts))
        hashes = self._hashes_of(text, self._code_name(page)) if text else Hashes()
        return Content(body_digest, text, extracted.title, hashes)

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
        return page.url if self._recipe.scheme.form == "code" else None

    def _hashes_of(self, text: str, name: str | None) -> Hashes:
        scheme = self._recipe.scheme
        canon = canonical(text, scheme, name=name)
        text_digest = canonical_digest(canon)
        hashes = self._hashes.get(text_digest)
        if hashes is None:
            hashes = canonical_hashes(canon, text_digest, scheme)
            self._hashes.put(text_digest, hashes, len(text))
        return hashes


def is_plain(content_type: str | None) -> bool:
    """Whether `content_type` stands for text without markup."""
    kind = (content_type or "").partition(";")[0].strip().lower()
    return kind.startswith("text/") and kind not in MARKUP
