"""The way in: source → page → text → canonical text → fingerprints and sketches → record.

- `sources`: from names on a command line to splits, and from a split to pages
- `http_body`, `encoding`, `extractors`: from the bytes of a page to its text
- `page_record`: from a page to its record
- `worker`, `crew`: many pages at once; `bulk`: a whole crawl; `intake`, `scrapy`: page by page
- `seen`, `tally`, `report`, `failed_pages`: what was there before, and what becomes of each page
"""
