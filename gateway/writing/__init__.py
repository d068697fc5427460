"""Requests that write documents: those of attached indices get winnow's fields."""
