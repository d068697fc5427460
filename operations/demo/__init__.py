"""Pages that every machine with Python has, as a small crawl, and the passage that most of them share."""
