"""Changes between crawls."""
