"""The search UI and the JSON API."""
