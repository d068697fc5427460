"""Texts as HTML: passages marked, two texts side by side, sources coloured."""
