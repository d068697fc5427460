"""The command that searches for words, with near-duplicates in groups."""
