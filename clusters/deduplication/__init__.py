"""Deduplicates the rows of a data set: rows → pairs → which rows are kept, and for which of them the others go."""
