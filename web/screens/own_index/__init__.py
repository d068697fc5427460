"""Endpoints for the documents of an index of your own."""
