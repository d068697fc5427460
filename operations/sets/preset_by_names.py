"""Chooses the preset for files by their names: programs are compared by their tokens, other texts as pages."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.ingest.sources import STDIN, SourceError, Sources, zip_file
from opensearch_winnow.ingest.sources.files import HEAD, HTML, TEXT, type_by_name, type_of
from opensearch_winnow.ingest.sources.formats import is_zip

MAX_FILES = 2_000  # that decide the preset of a new store
# A site has scripts beside its pages, and a course has a page beside its programs: the one or the other is rare.
PROGRAMS_FOR_ONE_PAGE = 10
_MANY_PAGES = re.compile(r"\.(?:warc|arc|wacz|wet|parquet|jsonl|ndjson|jsonlines)(?:\.gz|\.zst|\.lz4)?$", re.IGNORECASE)


def scheme_for_names(names: Sequence[str]) -> Scheme:
    """Return the preset programs if at least as many are programs as texts, otherwise pages. Data does not count."""
    programs = sum(map(is_program, names))
    texts = sum(type_by_name(name) in (HTML, TEXT, None) for name in names)
    return PRESETS["programs" if programs and programs >= texts else "pages"]


def scheme_for_sources(sources: Sequence[str]) -> Scheme:
    """Return the preset for a new store of these sources: programs as for `winnow pairs`, but not for a crawl."""
    named = [name for name in sources if name != STDIN and not Path(name).is_fifo()]  # these can be read only once
    if len(named) < len(sources):
        return PRESETS["pages"]
    try:
        with Sources(named, allow_empty=True, allow_no_pages=True, zips=True) as found:
            paths = list(islice(_with_zipped(found.paths()), MAX_FILES))
    except (SourceError, OSError):
        return PRESETS["pages"]  # the run itself reports the error
    programs = sum(is_program(path) and not _is_saved_page(path) for path in paths)
    pages = sum(type_by_name(path) == HTML or bool(_MANY_PAGES.search(path)) for path in paths)
    return scheme_for_names(paths) if programs > PROGRAMS_FOR_ONE_PAGE * pages else PRESETS["pages"]


def _with_zipped(paths: Iterable[str]) -> Iterator[str]:
    """Yield the paths, and those of the files in a zip file at any depth instead of its own."""
    for path in paths:
        yield from (f"{path}/{name}" for name in zip_file.names(path)) if is_zip(path) else (path,)


def _is_saved_page(path: str) -> bool:
    """Return whether a file is a saved page that has the name of a program, such as index.php."""
    if type_by_name(path) is not None:
        return False
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            return type_of(path, file.read(HEAD)) == HTML
    except OSError:
        return False  # in a zip file
