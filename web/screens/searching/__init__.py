"""The first screen, and the results of searches."""
