"""All screens and actions."""

from __future__ import annotations

from opensearch_winnow.web.screen import Action, Screen
from opensearch_winnow.web.screens import search

SCREENS: tuple[Screen, ...] = (search.SCREEN,)
ACTIONS: tuple[Action, ...] = ()
