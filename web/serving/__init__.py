"""The HTTP side of the search UI: connections, threads, limits, formats, errors."""
