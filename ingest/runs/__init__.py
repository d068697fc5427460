"""Indexing runs: workers, what is stored already, counts, failed pages."""
