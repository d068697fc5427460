"""Commands that compare the documents of a set: pairs, dedup, contaminated."""
