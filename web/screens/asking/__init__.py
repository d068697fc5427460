"""Screens about a page or a text."""
