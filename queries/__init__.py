"""From questions to scores: lookups, scores, passages, groups and search results, without a store."""
