"""Registers the boilerplate of a store, and learns the templates of its sites."""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Collection
from dataclasses import KW_ONLY, dataclass
from typing import Any

from opensearch_winnow.foundation.option_kinds import FLAG, SITE, number, share, text
from opensearch_winnow.foundation.options import Options, option
from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.scores import NO_SKETCHES, Sketches
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, BoilerplateError, Exclusions
from opensearch_winnow.queries.upkeep.site_template import site_template, without_near_duplicates
from opensearch_winnow.stores.store import Store, Text

SETTING = "boilerplate"
MAX_SAMPLE_SIZE = 200  # pages of a site that its template is learned from


@dataclass(frozen=True, slots=True, kw_only=True)
class BoilerplateOptions(Options):
    """The boilerplate that is added."""

    name: str | None = option(None, text("N", 2_000), "Name of the boilerplate.", unset="the file name or URL")
    site: str | None = option(None, SITE, "Register it as the template of this site: ignore it only between its pages.")
    replace: bool = option(False, FLAG, "Replace the boilerplate of this name, if there is any.")


@dataclass(frozen=True, slots=True)
class LearningOptions(Options):
    """The sites whose templates are learned, and the definition of a template."""

    site: str | None = option(None, SITE, "Learn from this site only.", unset="every site with enough pages")
    _: KW_ONLY
    min_share: float = option(0.5, share(above_0=True), "Text on at least X of a site's pages is its template.")
    min_pages: int = option(
        10, number(1, MAX_SAMPLE_SIZE), "A site needs at least N pages, not counting near-duplicates."
    )


class RegisteredBoilerplate:
    """The boilerplate that is kept in a store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hashed: tuple[list[Boilerplate], Exclusions] | None = None

    def read(self) -> list[Boilerplate]:
        """Return the registered boilerplate, by name."""
        return [Boilerplate.from_document(each) for each in self._store.settings.get(SETTING) or []]

    def add(self, added: Boilerplate) -> None:
        """Register boilerplate. It replaces another of the same name."""
        if not Exclusions([added], self._store.scheme):
            raise BoilerplateError(
                f"the text of boilerplate {added.name} has no words, so there is nothing to leave out"
            )
        self._change(lambda registered: [*(each for each in registered if each.name != added.name), added])

    def remove(self, name: str) -> None:
        """Remove the boilerplate of this name."""

        def without(registered: list[Boilerplate]) -> list[Boilerplate]:
            kept = [each for each in registered if each.name != name]
            if len(kept) == len(registered):
                there = f"there is {', '.join(each.name for each in kept)}" if kept else "there is none"
                raise BoilerplateError(f"{self._store.name} has no boilerplate {name}; {there}")
            return kept

        self._change(without)

    def learn(self, options: LearningOptions) -> list[Boilerplate]:
        """Learn the template of a site, or of every site. They replace templates that were learned before."""
        site, learned = options.site, learned_templates(self._store, options)
        names = {each.name for each in learned}

        def with_learned(registered: list[Boilerplate]) -> list[Boilerplate]:
            kept = [each for each in registered if not each.learned or (site is not None and each.site != site)]
            return [*(each for each in kept if each.name not in names), *learned]

        self._change(with_learned)
        return learned

    def forget(self, sites: Collection[str], urls: set[str]) -> list[str]:
        """Remove boilerplate that came from deleted pages, and return the names of changed boilerplate.

        The templates of `sites` are learned again from the pages that are left. Boilerplate that was taken from a page
        of `urls`, or has its name, is removed.
        """
        affected = {each.site for each in self.read() if each.learned and each.site in sites}
        # One scan of the pages of all sites is quicker than one for each site.
        looks = [None, *affected & {""}] if len(affected - {""}) > 1 else list(affected)
        learned = [
            each
            for site in looks
            for each in learned_templates(self._store, LearningOptions(site))
            if each.site in affected
        ]
        changed: set[str] = set()

        def without(registered: list[Boilerplate]) -> list[Boilerplate]:
            outdated = [each for each in registered if each.learned and each.site in affected]
            kept = [
                each for each in registered if each not in outdated and not urls.intersection((each.name, each.url))
            ]
            changed.clear()
            changed.update(each.name for each in {*registered} ^ {*kept, *learned})
            return [*kept, *learned]

        if affected or urls:
            self._change(without)
        return sorted(changed)

    def exclusions(self) -> Exclusions:
        """Return the hashes of the registered boilerplate. They are computed again only when it has changed."""
        boilerplate = self.read()
        if self._hashed is None or self._hashed[0] != boilerplate:
            self._hashed = boilerplate, Exclusions(boilerplate, self._store.scheme)
        return self._hashed[1]

    def _change(self, change: Callable[[list[Boilerplate]], list[Boilerplate]]) -> None:
        """Replace the registered boilerplate with `change` of it, in one step."""

        def changed(documents: list[dict[str, Any]] | None) -> list[dict[str, Any]]:
            boilerplate = change([Boilerplate.from_document(each) for each in documents or ()])
            return [each.as_document() for each in sorted(boilerplate, key=lambda each: each.name)]

        self._store.settings.change(SETTING, changed)


def learned_templates(store: Store, options: LearningOptions) -> list[Boilerplate]:
    """Learn the template of a site, or of every site."""
    learned = []
    for name, cards in sorted(_samples(store, options.site).items()):
        sketches = store.read([card.id for card in cards], Sketches)
        minhashes = [sketches.get(card.id, NO_SKETCHES).minhash for card in cards]
        cards = [cards[index] for index in without_near_duplicates(minhashes, store.scheme)]
        if len(cards) >= options.min_pages:
            read = store.read([card.id for card in cards], Text)
            texts = {card.url: read[card.id].text for card in cards if card.id in read}
            text = site_template(list(texts.values()), store.scheme, share=options.min_share, names=list(texts))
            if text:
                learned.append(Boilerplate(f"template of {name or 'files'}", text, name, learned=True))
    return learned


def _samples(store: Store, site: str | None) -> dict[str, list[Card]]:
    """Return some pages of each site. Pages without a site, such as files, count as one only if `site` is empty."""
    samples: dict[str, list[Card]] = {}
    for card in store.scan(Card, Filters(site=site, latest=True)):
        if card.site or site is not None:
            sample = samples.setdefault(card.site, [])
            # Ids are as good as random numbers: the pages with the smallest are a fair sample.
            insort(sample, card, key=lambda each: each.id)
            del sample[MAX_SAMPLE_SIZE:]
    return samples
