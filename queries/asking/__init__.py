"""From a question to its matches: lookups, estimates, scores, relationship."""
