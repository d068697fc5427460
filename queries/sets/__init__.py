"""Compares the documents of a set with each other."""
