"""A page as a list shows it, as JSON values."""

from __future__ import annotations

from typing import TypedDict

from opensearch_winnow.answers.capture_time import time_stamp
from opensearch_winnow.mappings.card import Card


class CardDocument(TypedDict):
    id: str
    url: str
    title: str | None
    site: str
    fetched_at: str | None


def card_document(card: Card) -> CardDocument:
    return {
        "id": card.id,
        "url": card.url,
        "title": card.title,
        "site": card.site,
        "fetched_at": time_stamp(card),
    }
