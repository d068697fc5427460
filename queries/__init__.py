"""Answers questions about pages: lookups, scores, passages, groups and search results, without a store."""
