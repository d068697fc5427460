"""The extractor of the main text without navigation, with the package trafilatura."""

from __future__ import annotations

import trafilatura

from opensearch_winnow.ingest.extractors import Extracted, Extractor
from opensearch_winnow.ingest.extractors.lxml_events import lxml_extractor


def trafilatura_extractor(alt: bool) -> Extractor:
    whole = lxml_extractor(alt)

    def extract(html: bytes) -> Extracted:
        # Its metadata would include a search for dates, which takes longer than reading title and links ourselves.
        main = trafilatura.extract(html.decode("utf-8", "replace"), include_comments=False)
        return whole(html)._replace(text=main or "")

    return extract
