"""Results of searches."""
