"""Attaches winnow to an index of your own."""
