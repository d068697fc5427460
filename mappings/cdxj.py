"""Makes the lines of CDXJ, the index of web archives: a sort key, a time, and the location of a record."""

from __future__ import annotations

import json
from datetime import datetime
from pathlib import PurePath

from opensearch_winnow.foundation.surt import surt
from opensearch_winnow.mappings.archive_location import ArchiveLocation


def cdxj_line(url: str, fetched_at: datetime, digest: str | None, source: ArchiveLocation) -> str:
    """Return the line of a capture, with its line break. It names the file without its folder, as readers expect."""
    fields = {
        "url": url,
        "mime": "warc/revisit" if source.record_type == "revisit" else source.mime,
        "status": None if source.status is None else str(source.status),
        "digest": digest,
        "length": str(source.length),
        "offset": str(source.offset),
        "filename": PurePath(source.file).name,
    }
    known = {name: value for name, value in fields.items() if value is not None}
    digits = "".join(filter(str.isdigit, fetched_at.isoformat()))
    return f"{surt(url).replace(' ', '%20')} {digits[:14]} {json.dumps(known)}\n"
