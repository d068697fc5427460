"""The metadata of a record file: the version of its format, and its scheme."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import Any

from opensearch_winnow.mappings.record import RecordsError
from opensearch_winnow.mappings.written_scheme import WrittenScheme

FORMAT = 1  # the version of the columns and of the metadata; readers refuse later ones
METADATA = b"winnow"  # the key in the metadata of a Parquet file
SPARK_METADATA = b"org.apache.spark.sql.parquet.row.metadata"


def metadata_of(scheme: WrittenScheme) -> bytes:
    """Return the value that a record file of `scheme` has under the key METADATA."""
    content = {"format": FORMAT, "scheme_id": scheme.id, "keyed": scheme.keyed, "scheme": scheme.choices}
    return json.dumps(content).encode()


def parse_metadata(metadata: Mapping[bytes, bytes], file: str | os.PathLike[str]) -> WrittenScheme:
    """Return the scheme in the metadata of a Parquet file. `file` is its name for error messages."""
    try:
        content = _content(metadata)
        version = content["format"]
        if version not in range(1, FORMAT + 1):
            raise RecordsError(
                f"{file} has format {version} of record files, and this winnow knows none above {FORMAT}: update winnow"
            )
        return WrittenScheme(content["scheme_id"], content["scheme"], content["keyed"])
    except (KeyError, TypeError, ValueError):
        raise RecordsError(f"{file} is a Parquet file, but not one of winnow's records") from None


def _content(metadata: Mapping[bytes, bytes]) -> dict[str, Any]:
    if METADATA in metadata or SPARK_METADATA not in metadata:
        content: dict[str, Any] = json.loads(metadata[METADATA])
    else:  # Spark keeps only its own key, with the metadata of columns: ours is with the first column
        first, *_ = json.loads(metadata[SPARK_METADATA])["fields"]
        content = json.loads(first["metadata"][METADATA.decode()])
    return content
