"""Sends requests to an engine: clients, retries, and errors in plain words."""
