"""Divides the files of sources into splits, which workers read."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from opensearch_winnow.foundation.errors import WinnowError
from opensearch_winnow.ingest.sources import Sources, UnreadableError, files, size_of
from opensearch_winnow.ingest.sources.field_names import FieldNames
from opensearch_winnow.ingest.sources.formats import reader
from opensearch_winnow.ingest.sources.row_fields import ROW_FORMATS, missing_fields
from opensearch_winnow.ingest.sources.split import SourceFile, Split

MAX_FILES_PER_SPLIT = 256  # enough to be worth a message to a worker


def splits(sources: Sources, size: int) -> Iterator[Split]:
    """Yield all sources in parts of about `size` bytes, the same in every run. Folders are walked lazily.

    Files that are pages are read together, in the order of their names.
    """
    top = sources.common_folder
    base = sources.base if not sources.base or sources.base.endswith(("/", "=", "?", "#", ":")) else f"{sources.base}/"
    names: list[str] = []
    held, kind = 0, (False, "")

    def pages() -> Iterator[Split]:
        nonlocal held
        if names:
            yield Split("files", top, 0, len(names), held, tuple(names), base, *kind)
            names.clear()
            held = 0

    for file in sources.files(named_first=True):
        length = size_of(file)
        name = file.path[len(top.rstrip("/")) + 1 :]
        parts = splits_of(file, size, sources.fields)
        if parts and parts[0].format == "zip_file":
            yield from pages()  # the files of a zip file come after those before it, as if it were a folder
            url = base + quote(os.fsencode(f"{name}/" if name else "")) if base else f"{files.file_uri(file.path)}/"
            yield from (replace(part, base=url, every_text=sources.every_text) for part in parts)
        elif parts is not None:
            yield from parts
        elif file.url:
            yield Split("files", file.path, 0, 1, length, base=sources.base or file.url, every_text=True)
        else:
            if len(names) >= MAX_FILES_PER_SPLIT or held + length > size or kind != (file.every_text, file.skipped):
                yield from pages()
            names.append(name)
            held, kind = held + length, (file.every_text, file.skipped)
    yield from pages()


def splits_of(file: SourceFile, size: int, fields: FieldNames) -> list[Split] | None:
    """Return the splits of a file of pages; None for a file that is a page, or that cannot be opened.

    The latter is reported when it is read as a page. A file that cannot be divided has one split, which fails.
    """
    if file.format == "files" and not file.failed:
        return None
    try:
        missing = missing_fields(file.format, file.path, fields) if file.format in ROW_FORMATS else None
        if failed := missing.reason if missing else file.failed:
            raise UnreadableError(failed)
        found = list(reader(file.format).splits(file.path, size))
    except UnreadableError as error:
        found = [Split("files", file.path, 0, 1, size_of(file), failed=str(error))]
    except (OSError, WinnowError):
        return None
    except Exception as error:  # a parser that did not expect this file: the run goes on without it
        found = [Split("files", file.path, 0, 1, size_of(file), failed=f"{type(error).__name__}: {error}")]
    return [replace(split, base=file.url, fields=fields) for split in found]
