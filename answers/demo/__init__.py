"""The report of the demo: what a small crawl shows, and sentences about it."""
