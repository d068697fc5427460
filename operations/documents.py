"""Reads documents to compare: files, submissions of several files, rows, and the pages of a store."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.ingest.encoding import encoding_of, to_text
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import UNREADABLE, Recipe, RecordMaker
from opensearch_winnow.ingest.sources import SourceError, printable
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.ingest.sources.files import HTML, TEXT, type_by_name
from opensearch_winnow.operations.found_files import Found, FoundFiles
from opensearch_winnow.operations.submissions import Submissions, submissions, without_moodle
from opensearch_winnow.queries.pairs import Document, DocumentFile, Unread

NOT_A_PROGRAM = "not a program"  # reasons
NO_TEXT = "no text"


@dataclass(slots=True)
class ReadDocuments:
    """The documents of some sources."""

    documents: list[Document]
    scheme: Scheme
    folders: bool  # whether each sub-folder is one document
    unread: list[Unread] = field(default_factory=list)


def read_documents(
    names: Sequence[str],
    scheme: Scheme | None = None,
    *,
    how: Submissions = "auto",
    except_for: Sequence[str] = (),
    fields: FieldNames = USUAL,
    owner_field: str | None = None,
) -> ReadDocuments:
    """Read the documents of files, folders and patterns. Without a `scheme`, the names of the files decide.

    Compared as programs, other files of a folder are left out. The files `except_for` are not read from a folder. Rows
    have the fields `fields`, and one that names their owner.
    """
    files_found = FoundFiles(fields, owner_field, except_for)
    found, unread = list(files_found.read(names)), files_found.unread
    scheme = scheme or scheme_for_names([each.path for each in found])
    if scheme.form == "code" and any(is_program(each.name) for each in found):
        unread += [Unread(each.name, NOT_A_PROGRAM) for each in found if not (each.named or is_program(each.name))]
        found = [each for each in found if each.named or is_program(each.name)]
    reader = _Reader(scheme)
    readable: dict[int, str] = {}
    for place, each in enumerate(found):
        text = reader.read(each.page)
        if isinstance(text, Unread):
            unread.append(text._replace(name=each.name))
        else:
            readable[place] = text
    files = {found[place].path: (found[place], text) for place, text in readable.items() if found[place].path}
    grouped = submissions(list(files), files_found.folders, how)
    top = _common_folder(grouped)
    documents = [_submission(folder, [files[path] for path in paths], top) for folder, paths in grouped.items()]
    documents += [
        Document(found[place].name, (DocumentFile(found[place].name, text),), found[place].owner)
        for place, text in readable.items()
        if not found[place].path
    ]
    folders = any(paths != [folder] for folder, paths in grouped.items())
    if top:
        unread = [each._replace(name=each.name.removeprefix(f"{printable(top)}/")) for each in unread]
    unread = [each._replace(name=without_moodle(each.name)) for each in unread]
    if not documents:
        raise SourceError(_nothing_to_compare(names, unread))
    return ReadDocuments(unique_ids(_without_moodle(documents)), scheme, folders, unread)


def _nothing_to_compare(names: Sequence[str], unread: Sequence[Unread]) -> str:
    others = Counter(each.reason for each in unread).most_common(5)
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in others)
    return f"there is nothing to compare in {printable(', '.join(names))}{f' ({reasons})' if reasons else ''}"


def scheme_for(documents: Iterable[Document]) -> Scheme:
    """Return the preset programs for programs, and pages for other documents."""
    return scheme_for_names([file.name for document in documents for file in document.files])


def scheme_for_names(names: Sequence[str]) -> Scheme:
    """Return the preset programs if at least as many are programs as texts, otherwise pages. Data does not count."""
    programs = sum(map(is_program, names))
    texts = sum(type_by_name(name) in (HTML, TEXT, None) for name in names)
    return PRESETS["programs" if programs and programs >= texts else "pages"]


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


def _without_moodle(documents: Sequence[Document]) -> list[Document]:
    """Return the documents named by the students alone, where this tells them apart."""
    short = [without_moodle(each.id) for each in documents]
    uses = Counter(short)
    return [replace(each, id=name if uses[name] == 1 else each.id) for each, name in zip(documents, short, strict=True)]


def _submission(folder: str, files: Sequence[tuple[Found, str]], top: str) -> Document:
    name = printable(folder[len(top) :].lstrip("/") or Path(folder).name)
    if [each.path for each, _ in files] == [folder]:
        return Document(name, (DocumentFile(name, files[0][1]),))
    return Document(name, tuple(DocumentFile(printable(each.path[len(folder) + 1 :]), text) for each, text in files))


def _common_folder(grouped: Mapping[str, object]) -> str:
    parents = {os.path.dirname(folder) for folder in grouped}  # noqa: PTH120
    return os.path.commonpath(parents) if parents else ""


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
