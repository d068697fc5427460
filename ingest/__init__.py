"""Turns sources into records: source → page → text → canonical text → fingerprints and sketches → record.

- `sources`: from the names of sources to splits, and from a split to pages
- `http_body`, `encoding`, `extractors`: from the bytes of a page to its text
- `page_record`, `hashes`: from a page to its record
- `runs`: whole crawls, in worker processes, and pages that a program has in memory; the outcome of each page
- `rows`: rows of data sets, read and written as they are
- `own_index`: fields and actions for an index of the user's own
"""
