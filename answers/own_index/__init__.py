"""Answers about documents of an index of the user's own."""
