"""Searches whose near-duplicates are folded."""
