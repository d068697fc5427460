"""The templates of the sites in a store, learned from a sample of their pages."""

from __future__ import annotations

from bisect import insort

from opensearch_winnow.mappings.card import Card
from opensearch_winnow.queries.boilerplate import Boilerplate
from opensearch_winnow.queries.estimated import NO_SKETCHES, Sketched
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.site_template import site_template, unlike
from opensearch_winnow.stores.store import Store, Text

SAMPLE = 200  # pages of a site


def learned_templates(store: Store, site: str | None = None, *, share: float, pages: int) -> list[Boilerplate]:
    """Of a site, or of each that has so many pages which are no near-duplicates: the text on this share of them."""
    learned = []
    for name, cards in sorted(_samples(store, site).items()):
        sketches = store.read([card.id for card in cards], Sketched)
        minhashes = [sketches.get(card.id, NO_SKETCHES).minhash for card in cards]
        cards = [cards[index] for index in unlike(minhashes, store.scheme)]
        if len(cards) >= pages:
            read = store.read([card.id for card in cards], Text)
            texts = {card.url: read[card.id].text for card in cards if card.id in read}
            text = site_template(list(texts.values()), store.scheme, share=share, names=list(texts))
            if text:
                learned.append(Boilerplate(f"template of {name or 'files'}", text, name, learned=True))
    return learned


def _samples(store: Store, site: str | None) -> dict[str, list[Card]]:
    """Of every site some pages. Those without a site, as files are, are of one only if they are asked for as such."""
    samples: dict[str, list[Card]] = {}
    for card in store.scan(Card, Filters(site=site, latest=True)):
        if card.site or site is not None:
            sample = samples.setdefault(card.site, [])
            # Ids are as good as random numbers: the pages with the smallest are a fair sample.
            insort(sample, card, key=lambda each: each.id)
            del sample[SAMPLE:]
    return samples
