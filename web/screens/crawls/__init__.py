"""Screens about crawls."""
