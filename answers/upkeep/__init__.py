"""A store as a whole."""
