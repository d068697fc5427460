"""Screens about the store and the server."""
