"""From sources to records: source → page → text → canonical text → fingerprints and sketches → record.

- `sources`: from the names of sources to splits, and from a split to pages
- `http_body`, `encoding`, `extractors`: from the bytes of a page to its text
- `page_record`: from a page to its record
- `worker`, `worker_pool`: pages in parallel; `bulk`: a whole crawl; `page_intake`: pages that a program has in memory
- `destination`: what records are written to
- `seen`, `tally`, `report`, `failed_pages`: what was stored before, and what becomes of each page
- `own_documents`: fields and actions for an index of your own
"""
