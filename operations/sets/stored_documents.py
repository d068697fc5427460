"""Reads the pages of a store as documents: all of them, or the pages that share text with new documents."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from opensearch_winnow.foundation.batches import batches
from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.code_language import is_program
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.ingest.sources import printable
from opensearch_winnow.ingest.sources.files import path_of
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.asking.similar import SimilarPages
from opensearch_winnow.operations.sets.found_files import NOT_A_PROGRAM
from opensearch_winnow.operations.sets.submissions import Submissions, are_many, submissions, without_moodle
from opensearch_winnow.queries.asking.similar_options import SimilarOptions
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.sets.pairs import Document, DocumentFile, Unread
from opensearch_winnow.queries.upkeep.boilerplate import Exclusions
from opensearch_winnow.stores.store import Store

MAX_PAGES = 20_000  # of a store that is read as a whole: more would not fit into a small machine's memory
LOOKING_UP = "looking up the documents"  # a phase
READ_SIZE = 500  # records at a time
LATEST = Filters(latest=True)
# Of each file, if the store has more pages.
CANDIDATES = SimilarOptions(min_containment=0, exact=False, where=LATEST, limit=100)


def all_documents(store: Store) -> list[Document]:
    """Return the latest capture of each URL, to be compared with each other."""
    return list(_documents(store, store.scan(Record, LATEST), earlier=False))


def earlier_documents(
    store: Store, new: Sequence[Document], scheme: Scheme, exclusions: Exclusions, progress: Progress
) -> list[Document]:
    """Return the pages of a store that may share text with `new` documents, as earlier ones.

    A store of up to MAX_PAGES pages is read as a whole, and so is one of another scheme. Otherwise the fingerprints of
    each file are looked up, and the CANDIDATES that share the most with it are read.
    """
    if scheme != store.scheme or store.count(LATEST) <= MAX_PAGES:
        return list(_documents(store, store.scan(Record, LATEST), earlier=True))
    ids: dict[str, None] = {}  # in the order in which they are found
    maker = RecordMaker(Recipe(scheme=scheme))
    for done, document in enumerate(new):
        check_cancelled()
        progress(LOOKING_UP, done, len(new))
        for file in document.files:
            record = maker.make(Page(file.name, text=file.text))
            if isinstance(record, Record):
                matches = SimilarPages(store, record, CANDIDATES, exclusions, is_stored=False).find(passages=False)
                ids |= dict.fromkeys(match.card.id for match in matches)
    parts = (store.read(batch, Record) for batch in batches(ids, READ_SIZE))
    found = {id_: record for part in parts for id_, record in part.items()}
    return list(_documents(store, (found[id_] for id_ in ids if id_ in found), earlier=True))


def _documents(store: Store, records: Iterable[Record], *, earlier: bool) -> Iterator[Document]:
    textless = 0
    for record in records:
        if record.text:
            file = DocumentFile(record.url, record.text)
            yield Document(record.url, (file,), earlier=earlier, site=record.site or None)
        elif record.hashes.shingle_count:
            textless += 1
    if textless:
        raise QuestionError(
            f"{store.name} does not keep the texts of {textless:,} pages, and pairs are compared by their texts: index"
            " them again with --text"
        )


def programs_only(documents: Sequence[Document]) -> tuple[list[Document], list[Unread]]:
    """Return the pages that are programs, and the others as unread; if none is a program, all pages."""
    programs = [each for each in documents if is_program(each.id)]
    if not programs:
        return list(documents), []
    return programs, [Unread(each.id, NOT_A_PROGRAM) for each in documents if not is_program(each.id)]


def grouped_files(documents: Sequence[Document], how: Submissions) -> list[Document]:
    """Group pages that were files into submissions, by the rule for folders, and name them by folder and file.

    The folder is the innermost one that contains all files. If its sub-folders are not submissions, but one for each
    year, for example, their sub-folders may be. Other pages keep their URLs.
    """
    files = {path: each for each in documents if (path := path_of(each.id))}
    if not files:
        return list(documents)
    top = os.path.commonpath({os.path.dirname(path) for path in files})  # noqa: PTH120
    grouped = submissions(list(files), [top], how)
    if how == "auto" and not are_many(grouped):
        below = {f"{top}/{path[len(top) + 1 :].partition('/')[0]}" for path in files} - files.keys()
        deeper = submissions(list(files), sorted(below), how)
        grouped = deeper if are_many(deeper) else grouped
    above = len(os.path.dirname(top).rstrip("/")) + 1  # noqa: PTH120
    made = [
        Document(
            without_moodle(printable(folder[above:])),
            tuple(
                DocumentFile(printable(path[above if path == folder else len(folder) + 1 :]), files[path].files[0].text)
                for path in paths
            ),
            earlier=True,
        )
        for folder, paths in grouped.items()
    ]
    return [*made, *(each for each in documents if not path_of(each.id))]
