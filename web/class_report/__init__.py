"""Writes the pairs of a set of documents as a report in HTML, which needs no server and no network."""
