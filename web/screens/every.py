"""All screens and actions."""

from __future__ import annotations

from opensearch_winnow.web.screen import Action, Screen, Signpost
from opensearch_winnow.web.screens import (
    cluster,
    clusters,
    compare,
    history,
    page,
    page_address,
    paste,
    search,
    statistics,
    watches,
)

SIGNPOSTS: tuple[Signpost, ...] = (page_address.PAGE, page_address.COMPARISON)
SCREENS: tuple[Screen, ...] = (
    search.SCREEN,
    page.SCREEN,
    page.OF_URL,
    page.SIMILAR,
    history.SCREEN,
    compare.SCREEN,
    paste.FORM,
    paste.SCREEN,
    paste.QUOTES,
    clusters.SCREEN,
    cluster.SCREEN,
    statistics.SCREEN,
    watches.SCREEN,
)
ACTIONS: tuple[Action, ...] = (
    *compare.ACTIONS,
    paste.KEEP,
    clusters.START,
    clusters.STOP,
    statistics.COUNT_AGAIN,
    *watches.ACTIONS,
)
