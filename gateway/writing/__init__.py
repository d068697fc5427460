"""Requests that write documents: documents of attached indices get winnow's fields."""
