"""Pairs of a set."""
