"""Searches stores, and groups near-duplicate hits."""
