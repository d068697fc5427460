"""Compares all documents of a set with each other, and with the pages of a store."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.foundation.scheme import Scheme
from opensearch_winnow.mappings.record import Record
from opensearch_winnow.operations.boilerplate import RegisteredBoilerplate
from opensearch_winnow.operations.documents import ReadDocuments, read_documents, unique_ids
from opensearch_winnow.operations.owners import owner_by
from opensearch_winnow.operations.submissions import Submissions
from opensearch_winnow.queries.boilerplate import Boilerplate, Exclusions
from opensearch_winnow.queries.filters import Filters
from opensearch_winnow.queries.pair_finder import READING, find_pairs
from opensearch_winnow.queries.pair_scores import default_minimum
from opensearch_winnow.queries.pairs import Document, DocumentFile, Measure, Pairs
from opensearch_winnow.stores.store import Store


def pairs(
    sources: str | Sequence[str],
    *,
    scheme: Scheme | None = None,
    by: Measure = "similarity",
    minimum: float | None = None,
    limit: int | None = None,
    base: Sequence[str] = (),
    owner: str | None = None,
    submissions: Submissions = "auto",
    progress: Progress | None = None,
) -> Pairs:
    """Compare all documents of `sources` with each other, and return the pairs that are similar, the best first.

    Sources are files, folders and patterns; a file of JSON lines or Parquet has a document in each row. Nothing is
    sampled: all pairs are compared.

    - `scheme`: by default, the preset code if the files are programs, otherwise pages.
    - `by`: rank pairs by their "similarity", "resemblance", "containment" (the larger of both) or "longest" passage.
    - `minimum`: of what pairs are ranked by, from 0 to 1; for the longest passage, its words. By default, that at
      which a pair is worth a look.
    - `limit`: the number of pairs to return, None for all; `.total` counts all.
    - `base`: files and folders whose text does not count, such as code that was given to all.
    - `owner`: documents of one owner are not compared with each other. It is the first group of a regular expression,
      searched in the id of a document, or a CSV file with rows id,owner.
    - `submissions`: "folders" makes each sub-folder one document, "files" each file; "auto" decides by the folder.
    - `progress` is called with the phase, the amount done and the total.
    """
    options = PairOptions(
        scheme=scheme, by=by, minimum=minimum, limit=limit, base=base, owner=owner, submissions=submissions
    )
    return find(options, [sources] if isinstance(sources, str) else sources, progress=progress or no_progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """The options of `pairs`."""

    scheme: Scheme | None = None  # None: that of the store, or by the names of the files
    by: Measure = "similarity"
    minimum: float | None = None  # None: by the measure and the scheme
    limit: int | None = None
    base: Sequence[str] = ()
    owner: str | None = None
    submissions: Submissions = "auto"
    boilerplate: bool = True  # leave out the boilerplate of the store


def find(
    options: PairOptions,
    sources: Sequence[str] = (),
    store: Store | None = None,
    progress: Progress = no_progress,
) -> Pairs:
    """Compare the documents of `sources` with each other and with the pages of `store`; or all pages of the store."""
    scheme = options.scheme or (store.scheme if store else None)
    progress(READING, 0, None)
    if sources or not store:
        read = read_documents(sources, scheme, how=options.submissions, except_for=options.base)
    else:
        read = ReadDocuments([], store.scheme if scheme is None else scheme, folders=False)
    base = base_texts(options.base, read)
    registered = RegisteredBoilerplate(store).read() if store and options.boilerplate else []
    documents = read.documents
    if store:
        documents = unique_ids([*documents, *stored_documents(store, earlier=bool(sources))])
    if options.owner is not None:
        owner = owner_by(options.owner)
        documents = [replace(each, owner=owner(each.id)) for each in documents]
    found = find_pairs(
        documents,
        read.scheme,
        measure=options.by,
        minimum=default_minimum(options.by, read.scheme) if options.minimum is None else options.minimum,
        limit=options.limit,
        exclusions=Exclusions([*registered, *base], read.scheme),
        progress=progress,
    )
    return replace(found, folders=read.folders, base=len(base), unread=read.unread)


def base_texts(names: Sequence[str], read: ReadDocuments) -> list[Boilerplate]:
    """Return the texts of base files, which do not count, and note those that cannot be read."""
    if not names:
        return []
    base = read_documents(names, read.scheme, how="files")
    read.unread += base.unread
    return [Boilerplate(file.name, file.text) for document in base.documents for file in document.files]


def stored_documents(store: Store, *, earlier: bool) -> Iterator[Document]:
    """Yield the latest capture of each URL as a document."""
    textless = 0
    for record in store.scan(Record, Filters(latest=True)):
        if record.text:
            yield Document(
                record.url, (DocumentFile(record.url, record.text),), earlier=earlier, site=record.site or None
            )
        elif record.shingle_count:
            textless += 1
    if textless:
        raise QuestionError(
            f"{store.name} does not keep the texts of {textless:,} pages, which pairs are compared by: index them again"
            " with --text"
        )
