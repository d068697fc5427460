"""Answers questions about a page or a text: similar pages, sources, history, versions, later pages, watches."""
