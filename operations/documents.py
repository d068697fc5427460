"""Reads documents to compare: files, submissions of several files, rows, and the pages of a store."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.ingest.encoding import encoding_of, to_text
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import MAX_PAGE_BYTES, UNREADABLE, Recipe, RecordMaker
from opensearch_winnow.ingest.sources import SourceError, Sources, printable, read
from opensearch_winnow.ingest.sources.files import HTML, TEXT, type_by_name
from opensearch_winnow.ingest.sources.split import Damage, Failed, Skipped
from opensearch_winnow.operations.submissions import Submissions, submissions
from opensearch_winnow.queries.pairs import Document, DocumentFile, Unread

NOT_A_PROGRAM = "not a program"  # reasons
NO_TEXT = "no text"
SPLIT_BYTES = 1 << 24  # of sources that are read at a time


@dataclass(slots=True)
class ReadDocuments:
    """The documents of some sources."""

    documents: list[Document]
    scheme: Scheme
    folders: bool  # whether each sub-folder is one document
    unread: list[Unread] = field(default_factory=list)


@dataclass(slots=True)
class _Found:
    """A file or row of the sources."""

    name: str  # for messages, and of a row its id
    path: str  # absolute, of a file; empty for a row
    page: Page
    named: bool = False  # the user has named it, and not only its folder


def read_documents(
    names: Sequence[str],
    scheme: Scheme | None = None,
    *,
    how: Submissions = "auto",
    except_for: Sequence[str] = (),
) -> ReadDocuments:
    """Read the documents of files, folders and patterns. Without a `scheme`, the names of the files decide.

    If there are at least as many programs as texts, the scheme is the preset code, otherwise pages. Compared as
    programs, other files of a folder are left out. The files `except_for` are not read from a folder.
    """
    unread: list[Unread] = []
    found = list(_found(names, except_for, unread))
    programs = sum(is_program(each.name) for each in found)
    if scheme is None:
        texts = sum(not each.path or type_by_name(each.path) in (HTML, TEXT, None) for each in found)
        scheme = PRESETS["code" if programs and programs >= texts else "pages"]
    if scheme.form == "code" and programs:
        others = [each for each in found if not (each.named or is_program(each.name))]
        unread += [Unread(each.name, NOT_A_PROGRAM) for each in others]
        left_out = set(map(id, others))
        found = [each for each in found if id(each) not in left_out]
    reader = _Reader(scheme)
    readable: dict[int, str] = {}
    for place, each in enumerate(found):
        text = reader.read(each.page)
        if isinstance(text, Unread):
            unread.append(text._replace(name=each.name))
        else:
            readable[place] = text
    files = {found[place].path: (found[place], text) for place, text in readable.items() if found[place].path}
    tops = [os.path.abspath(name) for name in names if Path(name).is_dir()]  # noqa: PTH100 (as Sources does)
    grouped = submissions(list(files), tops, how)
    top = _common_folder(grouped)
    documents = [_submission(folder, [files[path] for path in paths], top) for folder, paths in grouped.items()]
    documents += [
        Document(found[place].name, (DocumentFile(found[place].name, text),))
        for place, text in readable.items()
        if not found[place].path
    ]
    folders = any(paths != [folder] for folder, paths in grouped.items())
    shown = [each._replace(name=each.name.removeprefix(f"{printable(top)}/")) for each in unread]
    return ReadDocuments(unique_ids(documents), scheme, folders, shown)


def unique_ids(documents: Iterable[Document]) -> list[Document]:
    """Return the documents with ids that differ: an id that was there already gets a number."""
    ids: set[str] = set()
    different = []
    for document in documents:
        name, number = document.id, 1
        while name in ids:
            number += 1
            name = f"{document.id} ({number})"
        ids.add(name)
        different.append(document if name == document.id else replace(document, id=name))
    return different


def _submission(folder: str, files: Sequence[tuple[_Found, str]], top: str) -> Document:
    name = printable(folder[len(top) :].lstrip("/") or Path(folder).name)
    if [each.path for each, _ in files] == [folder]:
        return Document(name, (DocumentFile(name, files[0][1]),))
    return Document(name, tuple(DocumentFile(printable(each.path[len(folder) + 1 :]), text) for each, text in files))


def _common_folder(grouped: Mapping[str, object]) -> str:
    parents = {os.path.dirname(folder) for folder in grouped}  # noqa: PTH120
    return os.path.commonpath(parents) if parents else ""


def _found(names: Sequence[str], except_for: Sequence[str], unread: list[Unread]) -> Iterator[_Found]:
    """Yield what is found in the sources; note in `unread` what is skipped or cannot be read."""
    names = list(_openable(names, unread))
    if not names and unread:
        return
    files = {os.path.abspath(name) for name in names}  # noqa: PTH100 (as Sources does)
    with Sources(names, every_text=True, except_for=except_for) as sources:
        for split in sources.splits(SPLIT_BYTES):
            for offset, item in read(split, MAX_PAGE_BYTES):
                path = str(Path(split.path, split.names[offset])) if split.names and offset < len(split.names) else ""
                if isinstance(item, Page) and item.revisit_of is None:
                    yield _Found(printable(path) or item.url, path, item, path in files)
                elif isinstance(item, Skipped):
                    unread.append(Unread(printable(path) or item.url, item.reason))
                elif isinstance(item, Failed):
                    unread.append(Unread(printable(path) or item.page.url, item.reason, failed=True))
                elif isinstance(item, Damage):
                    unread.append(Unread(printable(split.path), item.reason, failed=True))


def _openable(names: Sequence[str], unread: list[Unread]) -> Iterator[str]:
    """Yield the names that can be read. One empty or binary file of many is noted, and is no error."""
    for name in names:
        if Path(name).is_file():
            try:
                Sources([name], every_text=True).close()
            except SourceError as error:
                if len(names) == 1:
                    raise
                unread.append(Unread(printable(name), str(error).removeprefix(f"{printable(name)} is ")))
                continue
        yield name


class _Reader:
    """Reads the texts of pages; a program keeps its markup and white space."""

    def __init__(self, scheme: Scheme) -> None:
        self._is_code = scheme.form == "code"
        self._maker = RecordMaker(Recipe(scheme=scheme))

    def read(self, page: Page) -> str | Unread:
        try:
            plain = self._is_code or page.content_type != HTML
            if plain and isinstance(page.html, bytes) and not page.codings:
                text = to_text(page.html, encoding_of(page.html, page.content_type, markup=False))
            else:
                text = page.text if page.text is not None else self._maker.read(page).text
        except UNREADABLE as error:
            return Unread("", str(error), failed=True)
        return text if text.strip() else Unread("", NO_TEXT)
