"""Indexing runs: workers, captures that are stored already, counts, failed pages."""
