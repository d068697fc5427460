"""Boilerplate, and the templates of sites."""
