"""Brings crawls in, compares them, takes captures out, and deletes them."""
