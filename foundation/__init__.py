"""Schemes, canonical text, errors and extras: what all other rooms build on."""
