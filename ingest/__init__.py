"""The way in: from a text to what is stored of it."""
