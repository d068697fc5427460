"""The index: a store, and what can be done with it. The one place where the rooms meet."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, Unpack

from opensearch_winnow.canonical import canonical
from opensearch_winnow.clustered import cluster_store
from opensearch_winnow.clusters.asked import COMPARED, Clustering, Linkage
from opensearch_winnow.clusters.found import Found
from opensearch_winnow.clusters.run import How
from opensearch_winnow.ingest.failed_pages import FailedPages
from opensearch_winnow.ingest.intake import Intake
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.report import Report
from opensearch_winnow.learned_templates import learned_templates
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.queries.asked import Asked, QuestionError
from opensearch_winnow.queries.boilerplate import NOTHING, Boilerplate, BoilerplateError, Exclusions
from opensearch_winnow.queries.compare import Comparison, compare
from opensearch_winnow.queries.cursors import EXAMINED, THRESHOLD, Cursor, SearchAsked
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.frequency_check import FREQUENT
from opensearch_winnow.queries.matches import Matches
from opensearch_winnow.queries.question import Question
from opensearch_winnow.queries.results import FacetName, SearchResults, Way
from opensearch_winnow.scheme import Scheme
from opensearch_winnow.searches import Searches
from opensearch_winnow.similar import Similar
from opensearch_winnow.stores.destination import StoreDestination
from opensearch_winnow.stores.kept_recipe import keep_recipe, kept_recipe
from opensearch_winnow.stores.opening import failed_pages_of, open_store, shown, store_exists
from opensearch_winnow.stores.store import Statistics, Store

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

PASTED = "pasted text"  # where a page has its URL
BOILERPLATE = "boilerplate"  # the setting of a store that holds it


class Index:
    """Pages in a store: add some, and ask for copies, for passages, for words. Used as a context.

    An index is for one thread at a time; open another for another.
    """

    def __init__(
        self, name: str, scheme: Scheme | None, *, create: bool, key: str | None, client: OpenSearch | None
    ) -> None:
        self.name = shown(name)
        self._address = name  # with the credentials, if it has some
        self._client = client
        self._wanted = scheme
        self._create = create
        self._key = key
        self._opened: Store | None = None
        self._made_by: tuple[Recipe, RecordMaker] | None = None
        self._hashed: tuple[list[Boilerplate], Exclusions] | None = None
        self._searched: Searches | None = None
        if not create or store_exists(name, client):
            self._opened = self._open()

    @classmethod
    def open(
        cls,
        store: str | os.PathLike[str],
        *,
        scheme: Scheme | None = None,
        create: bool = True,
        key: str | None = None,
        client: OpenSearch | None = None,
    ) -> Index:
        """Open the store of this name: a file, or `http://localhost:9200/pages`.

        One that does not exist is made as pages are added, with the `scheme` (by default `Scheme()`), unless `create`
        is false. One that exists has its scheme; giving another is refused. `key` is that of a scheme with a secret.
        A `client` of opensearch-py is used for a cluster, instead of one that is made from the address; it stays open.
        """
        return cls(os.fspath(store), scheme, create=create, key=key, client=client)

    @property
    def store(self) -> Store:
        if self._opened is None:
            self._opened = self._open()
        return self._opened

    def _open(self, *, create: bool = False) -> Store:
        return open_store(self._address, self._wanted, create=create, key=self._key, client=self._client)

    @property
    def scheme(self) -> Scheme:
        if self._opened is None:
            return self._wanted or Scheme(key=self._key)
        return self._opened.scheme

    # --- the way in ---------------------------------------------------------------------------------------------------

    def add(
        self,
        pages: Iterable[Page],
        *,
        crawl: str = "",
        failed: str | os.PathLike[str] | None = None,
    ) -> Report:
        """Add pages, and say what became of them: `.indexed`, `.unchanged`, `.skipped`, `.failed`.

        Pages that fail are kept in the file `failed`, by default the store's name with `.failed.jsonl`, which can be
        indexed again. What is stored when this returns, or when an exception leaves it, stays.
        """
        if self._opened is None:
            self._opened = self._open(create=self._create)
        recipe = kept_recipe(self.store, crawl=crawl)
        keep_recipe(self.store, recipe)
        with (
            FailedPages(Path(failed or failed_pages_of(self.name))) as kept,
            StoreDestination(self.store) as destination,
            Intake(destination, kept, recipe) as intake,
        ):
            intake.add_all(pages)
            destination.close()
            kept.incomplete = False
        return intake.report

    # --- the way out --------------------------------------------------------------------------------------------------

    def similar(
        self,
        *,
        url: str | None = None,
        text: str | None = None,
        html: str | bytes | None = None,
        at: datetime | None = None,
        min_resemblance: float | None = None,
        min_containment: float | None = None,
        min_contained: float | None = None,
        exact: bool = True,
        limit: int | None = 100,
        where: Filters = Filters(),
        all_captures: bool = False,
        guarantee: int | None = None,
        frequent: int = FREQUENT,
        boilerplate: bool = True,
    ) -> Matches:
        """The pages that are similar to a page in the store (`url`, its latest capture or the last one until `at`), to
        a `text`, or to `html`: the best first.

        A match has every minimum that is given: `min_resemblance`, `min_containment` (of the question in the page) and
        `min_contained` (of the page in the question). With none, a page is asked for its near-duplicates, resemblance
        at least .5, and a text for the pages that have half of it. With `min_containment=0` every page matches that
        shares a passage.

        Scores are computed from both texts; with `exact=False`, or where a text is not stored, they are estimates, with
        their standard error and without passages. Fingerprints on more than `frequent` pages are ignored, but never all
        of a passage. `guarantee` is a larger guarantee threshold than the scheme's, for a quick first look. With
        `boilerplate=False` what is registered as boilerplate counts as any text.

        Of the captures of a URL the best match is shown, and those of `url` itself are not; `all_captures` shows all.
        """
        asked = Asked.of(
            "containment" if url is None else "resemblance",
            {"resemblance": min_resemblance, "containment": min_containment, "contained": min_contained},
        )
        given = [name for name, value in (("url", url), ("text", text), ("html", html)) if value is not None]
        if len(given) != 1:
            raise QuestionError(
                f"a question is a url, a text or html: one of them, not {' and '.join(given) or 'none'}"
            )
        record = self._asked_text(text, html) if url is None else self.page(url, at)
        exclusions = self._exclusions() if boilerplate else NOTHING
        question = Question.of(record, self.scheme, exclusions, guarantee)
        return Similar(self.store, question, asked, exclusions).answer(
            exact=exact, where=where, limit=limit, frequent=frequent, leave_out=url, all_captures=all_captures
        )

    def _asked_text(self, text: str | None, html: str | bytes | None) -> Record:
        made = self._maker().make(Page(PASTED, html=html, text=text))
        if not isinstance(made, Record):
            raise QuestionError(f"there is nothing to ask about: {made.reason}")
        length = len(canonical(made.text, self.scheme).chars)
        if length < self.scheme.k:
            raise QuestionError(
                f"the text has {length:,} canonical characters (letters and digits), and the scheme of {self.name}"
                f" needs {self.scheme.k:,}: ask with a longer one"
            )
        return made

    def _maker(self) -> RecordMaker:
        """As the store is filled, so that a question in HTML becomes the text that a page of it became."""
        recipe = kept_recipe(self.store, text=True)
        if self._made_by is None or self._made_by[0] != recipe:
            self._made_by = recipe, RecordMaker(recipe)
        return self._made_by[1]

    def page(self, url: str, at: datetime | None = None) -> Record:
        """The latest capture of a URL; or the last one until `at`."""
        found = self.store.capture(url, at)
        if found is not None:
            return found
        if at is not None and self.store.captures(url):
            raise QuestionError(f"{self.name} has no capture of {url} until {at:%Y-%m-%d %H:%M:%S}")
        known = next((other for other in _spellings(url) if self.store.captures(other)), None)
        hint = f"; there is {known}" if known else ""
        raise QuestionError(f"{self.name} has no page {url}{hint}")

    def compare(self, a: str, b: str, *, boilerplate: bool = True) -> Comparison:
        """Compare the latest captures of two URLs, exactly."""
        one, other = self.page(a), self.page(b)
        for page in (one, other):
            if not page.text:
                raise QuestionError(f"{self.name} does not have the text of {page.url}")
        return compare(
            one.text,
            other.text,
            self.scheme,
            names=(a, b),
            boilerplate=self.boilerplate() if boilerplate else (),
            sites=(one.site, other.site),
        )

    def search(
        self,
        words: str = "",
        *,
        any_word: bool = False,
        group: bool = False,
        threshold: float = THRESHOLD,
        by: Way = "signature",
        examine: int = EXAMINED,
        exact: bool = False,
        limit: int = 10,
        page: int = 1,
        where: Filters = Filters(),
        all_captures: bool = False,
        facets: Sequence[FacetName] = (),
        stable: bool = False,
        cursor: str | None = None,
    ) -> SearchResults:
        """The pages that have all the words, or with `any_word` one of them: `apple "fruit tree" -pear mil* a OR b`.

        The best come first; of equals the newest, then the one with the shortest URL. `page` 2 is the next few.

        With `group` pages that resemble each other are one result: each joins the first page, in this order, that it
        resembles at least as the `threshold` says, and `.members` of that one are the others. So many hits at least as
        `examine` says are looked at; `.groups` is exact when all were, and else None, between `.at_least` and
        `.at_most`. Resemblances near the threshold are computed from the texts, with `exact` those that are shown
        too. `by` is "signature" (from what is stored beside the texts), "cluster" (what batch clustering has found), or
        "both": clusters, of which those that resemble each other are one result.

        Of each URL the latest capture is searched; with `all_captures`, or where a crawl or an end is asked for, which
        the latest one may be after, all of them.

        With `stable` the results of this moment are kept for some minutes, and `search(cursor=results.cursor)` has the
        next page of them, whatever is written meanwhile: nothing comes twice, and nothing is left out.
        """
        if cursor is not None:
            if words:
                raise QuestionError("a cursor knows its words: give one of them, not both")
            return self._searches.following(Cursor.of(cursor))
        if page < 1:
            raise QuestionError(f"pages of results are counted from 1: there is no page {page}")
        if not (all_captures or where.crawl or where.until):
            where = replace(where, latest=True)
        asked = SearchAsked(
            words=words,
            any_word=any_word,
            where=where,
            group=group,
            threshold=threshold,
            by=by,
            examine=examine,
            exact=exact,
            limit=limit,
            facets=tuple(facets),
        )
        return self._searches.results(asked, page - 1, kept=stable)

    @property
    def _searches(self) -> Searches:
        if self._searched is None:
            self._searched = Searches(self.store, self._exclusions)
        return self._searched

    def statistics(self) -> Statistics:
        return self.store.statistics()

    def cluster(
        self,
        *,
        threshold: float = THRESHOLD,
        linkage: Linkage = "representatives",
        fast: bool = False,
        compared: int = COMPARED,
        write_back: bool = True,
        **how: Unpack[How],
    ) -> Found:
        """Find the clusters of near-duplicate pages in the whole store, and tell it which pages have another.

        A page joins the first page, in the order of time, that it resembles at least as the `threshold` says and that
        is a representative. With `fast` only pages that share a band are compared. `output` and `evidence` name Parquet
        files to write; `engine` is "duckdb" or "spark". With `write_back=False` the store is told nothing.
        """
        asked = Clustering(threshold=threshold, linkage=linkage, fast=fast, compared=compared)
        return cluster_store(self.store, asked, write_back=write_back, **how)

    # --- boilerplate --------------------------------------------------------------------------------------------------

    def boilerplate(self) -> list[Boilerplate]:
        """What was added or learned, by name."""
        return [Boilerplate.from_document(each) for each in self.store.settings().get(BOILERPLATE, [])]

    def add_boilerplate(self, name: str, text: str, site: str | None = None) -> Boilerplate:
        """From now on this text, a licence or a template, is no evidence of copying; with a `site`, on its pages only.

        It takes the place of another of the same name.
        """
        added = Boilerplate(name, text, site)
        if not Exclusions([added], self.scheme):
            raise BoilerplateError(f"the text of boilerplate {name} has no words, so there is nothing to leave out")
        self._keep([*(each for each in self.boilerplate() if each.name != name), added])
        return added

    def remove_boilerplate(self, name: str) -> None:
        registered = self.boilerplate()
        kept = [each for each in registered if each.name != name]
        if len(kept) == len(registered):
            there = f"there is {', '.join(each.name for each in kept)}" if kept else "there is none"
            raise BoilerplateError(f"{self.name} has no boilerplate {name}; {there}")
        self._keep(kept)

    def learn_boilerplate(self, site: str | None = None, *, share: float = 0.5, pages: int = 10) -> list[Boilerplate]:
        """Learn the template of a site, or of each: the text on this share of its pages, of which there are so many.

        What was learned before of these sites is forgotten. Pages without a site, as files are, are of no site in
        common, unless it is asked for as "".
        """
        learned = learned_templates(self.store, site, share=share, pages=pages)
        kept = [each for each in self.boilerplate() if not each.learned or (site is not None and each.site != site)]
        names = {each.name for each in learned}
        self._keep([*(each for each in kept if each.name not in names), *learned])
        return learned

    def _keep(self, boilerplate: list[Boilerplate]) -> None:
        documents = [each.as_document() for each in sorted(boilerplate, key=lambda each: each.name)]
        self.store.set_setting(BOILERPLATE, documents)

    def _exclusions(self) -> Exclusions:
        """Hashed once, and again when the boilerplate has changed."""
        boilerplate = self.boilerplate()
        if self._hashed is None or self._hashed[0] != boilerplate:
            self._hashed = boilerplate, Exclusions(boilerplate, self.scheme)
        return self._hashed[1]

    def close(self) -> None:
        if self._opened is not None:
            self._opened.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _spellings(url: str) -> Iterable[str]:
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
