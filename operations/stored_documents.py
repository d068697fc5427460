"""Reads the pages of a store as documents: all of them, or those that share text with new documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from opensearch_winnow.foundation.cancellation import check_cancelled
from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.ingest.page import Page
from opensearch_winnow.ingest.page_record import Recipe, RecordMaker
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.similar import SimilarPages
from opensearch_winnow.queries.boilerplate import Exclusions
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.pairs import Document, DocumentFile
from opensearch_winnow.queries.question import Question
from opensearch_winnow.queries.thresholds import Thresholds
from opensearch_winnow.stores.store import Store

MAX_PAGES = 20_000  # of a store that is read as a whole: more would not fit into a small machine's memory
MAX_CANDIDATES = 100  # pages for each file, if the store has more pages
LOOKING_UP = "looking up the documents"  # a phase
READ_SIZE = 500  # records at a time
LATEST = Filters(latest=True)


def all_documents(store: Store) -> list[Document]:
    """Return the latest capture of each URL, to be compared with each other."""
    return list(_documents(store, store.scan(Record, LATEST), earlier=False))


def earlier_documents(
    store: Store, new: Sequence[Document], scheme: Scheme, exclusions: Exclusions, progress: Progress
) -> list[Document]:
    """Return the pages of a store that may share text with `new` documents, as earlier ones.

    A store of up to MAX_PAGES pages is read as a whole, and so is one of another scheme. Otherwise the fingerprints of
    each file are looked up, and the MAX_CANDIDATES pages that share the most with it are read.
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
                question = Question.of(record, scheme, exclusions)
                candidates = SimilarPages(store, question, Thresholds({"containment": 0.0}), exclusions)
                matches = candidates.find(exact=False, where=LATEST, limit=MAX_CANDIDATES, passages=False)
                ids |= dict.fromkeys(match.card.id for match in matches)
    wanted = list(ids)
    parts = (store.read(wanted[start : start + READ_SIZE], Record) for start in range(0, len(wanted), READ_SIZE))
    found = {id_: record for part in parts for id_, record in part.items()}
    return list(_documents(store, (found[id_] for id_ in wanted if id_ in found), earlier=True))


def _documents(store: Store, records: Iterable[Record], *, earlier: bool) -> Iterator[Document]:
    textless = 0
    for record in records:
        if record.text:
            file = DocumentFile(record.url, record.text)
            yield Document(record.url, (file,), earlier=earlier, site=record.site or None)
        elif record.shingle_count:
            textless += 1
    if textless:
        raise QuestionError(
            f"{store.name} does not keep the texts of {textless:,} pages, and pairs are compared by their texts: index"
            " them again with --text"
        )
