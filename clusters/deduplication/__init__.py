"""Deduplicates the rows of a data set: rows → pairs → rows to keep, and for each dropped row the one kept instead."""
