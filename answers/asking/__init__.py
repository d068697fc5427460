"""Answers about a page or a text."""
