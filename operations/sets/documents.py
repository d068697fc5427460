"""Reads documents to compare: files, submissions of several files, rows, and the pages of a store."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.encoding import encoding_of, to_text
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import UNREADABLE, Recipe, RecordMaker
from opensearch_winnow.ingest.sources import SourceError, printable
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.ingest.sources.files import HTML
from opensearch_winnow.operations.sets.found_files import NOT_A_PROGRAM, Found, FoundFiles
from opensearch_winnow.operations.sets.preset_by_names import scheme_for_names
from opensearch_winnow.operations.sets.submissions import Submissions, submissions, without_moodle
from opensearch_winnow.queries.sets.pairs import NO_TEXT, Document, DocumentFile, Unread


@dataclass(slots=True)
class ReadDocuments:
    """The documents of some sources."""

    documents: list[Document]
    scheme: Scheme
    folders: bool  # True if each sub-folder is one document
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

    If programs are compared, other files of a folder are left out. Files `except_for` are always left out of folders.
    Rows have the fields `fields`, and one that names their owner.
    """
    sources = FoundFiles(fields, owner_field, except_for)
    found = list(sources.read(names))
    scheme = scheme or scheme_for_names([each.path for each in found])
    if scheme.form == "code" and any(is_program(each.name) for each in found):
        for each in found:
            if not (each.named or is_program(each.name)):
                sources.note_found(each, NOT_A_PROGRAM)
        found = [each for each in found if each.named or is_program(each.name)]
    reader = _DocumentReader(scheme)
    files: dict[str, tuple[Found, str]] = {}
    rows: list[Document] = []
    for each in found:
        text = reader.read(each.page)
        if isinstance(text, Unread):
            sources.note_found(each, text.reason, failed=text.failed)
        elif each.path:
            files[each.path] = each, text
        else:
            rows.append(Document(each.name, (DocumentFile(each.name, text),), each.owner))
    others = sources.unread_files
    work = [path for path, each in others.items() if each.work]
    grouped = submissions(
        list(dict.fromkeys((*files, *work))), sources.folders, how, [path for path in others if not others[path].work]
    )
    top = _common_folder(grouped)
    ids = _ids(grouped, top)
    documents = [
        _submission(folder, ids[folder], [files[path] for path in paths if path in files])
        for folder, paths in grouped.items()
        if any(path in files for path in paths)
    ]
    document_of = {path: ids[folder] for folder, paths in grouped.items() for path in paths}
    for path, unread in sorted(others.items()):
        sources.unread.append(unread._replace(name=_shown(path, top), document=document_of.get(path, "")))
    if not (documents or rows):
        raise SourceError(_nothing_to_compare(names, sources.unread))
    folders = any(paths != [folder] for folder, paths in grouped.items())
    return ReadDocuments(unique_ids([*documents, *rows]), scheme, folders, sources.unread)


def _nothing_to_compare(names: Sequence[str], unread: Sequence[Unread]) -> str:
    others = Counter(each.reason for each in unread).most_common(5)
    reasons = ", ".join(f"{count:,} × {reason}" for reason, count in others)
    return f"there is nothing to compare in {printable(', '.join(names))}{f' ({reasons})' if reasons else ''}"


def scheme_for(documents: Iterable[Document]) -> Scheme:
    """Return the preset programs for programs, and pages for other documents."""
    return scheme_for_names([file.name for document in documents for file in document.files])


def unique_ids(documents: Iterable[Document]) -> list[Document]:
    """Return the documents with unique ids: a repeated id gets a number."""
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


def _ids(grouped: Iterable[str], top: str) -> dict[str, str]:
    """Return the ids of submissions by their folders: from Moodle, by the students alone if these differ."""
    names = {folder: printable(folder[len(top) :].strip("/") or Path(folder).name) for folder in grouped}
    uses = Counter(map(without_moodle, names.values()))
    return {folder: short if uses[short := without_moodle(name)] == 1 else name for folder, name in names.items()}


def _shown(path: str, top: str) -> str:
    return without_moodle(printable(path.removeprefix(f"{top.rstrip('/')}/").rstrip("/") if top else path))


def _submission(folder: str, name: str, files: Sequence[tuple[Found, str]]) -> Document:
    if [each.path for each, _ in files] == [folder]:
        return Document(name, (DocumentFile(name, files[0][1]),))
    # A zip file may have a file and a folder of one name.
    names = [each.path[len(folder) + 1 :] or Path(folder).name for each, _ in files]
    return Document(name, tuple(DocumentFile(printable(n), text) for n, (_, text) in zip(names, files, strict=True)))


def _common_folder(grouped: Mapping[str, object]) -> str:
    parents = {os.path.dirname(folder) for folder in grouped}  # noqa: PTH120
    return os.path.commonpath(parents) if parents else ""


class _DocumentReader:
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
