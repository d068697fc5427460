"""Compares the documents of a set: pairs, duplicates, repeated passages, contamination."""
