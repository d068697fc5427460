"""Compares all documents of a set with each other, and with the pages of a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.path_names import path_names
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.foundation.tables import refuse_table
from opensearch_winnow.ingest.sources.field_names import USUAL, FieldNames
from opensearch_winnow.operations.sets.documents import ReadDocuments, read_documents, scheme_for, unique_ids
from opensearch_winnow.operations.sets.owners import with_owners
from opensearch_winnow.operations.sets.stored_documents import (
    all_documents,
    earlier_documents,
    grouped_files,
    programs_only,
)
from opensearch_winnow.operations.sets.submissions import Submissions
from opensearch_winnow.operations.upkeep.boilerplate import RegisteredBoilerplate
from opensearch_winnow.queries.sets.pair_finder import READING, find_pairs
from opensearch_winnow.queries.sets.pair_scores import default_minimum
from opensearch_winnow.queries.sets.pairs import Document, Measure, Pairs
from opensearch_winnow.queries.upkeep.boilerplate import Boilerplate, Exclusions
from opensearch_winnow.stores.store import Store


def pairs(
    sources: str | Sequence[str] | Sequence[Document],
    *,
    scheme: Scheme | None = None,
    by: Measure = "similarity",
    minimum: float | None = None,
    limit: int | None = None,
    base: Sequence[str] = (),
    owner: str | None = None,
    owner_field: str | None = None,
    fields: FieldNames = USUAL,
    submissions: Submissions = "auto",
    progress: Progress | None = None,
) -> Pairs:
    """Compare all documents of `sources` with each other, and return the pairs that are similar, the best first.

    Sources are files, folders and patterns, or documents. A zip file is read like a folder; a file of JSON lines, CSV
    or Parquet has a document in each row. Nothing is sampled: all pairs are compared.

    - `scheme`: by default, the preset programs if the files are programs, otherwise pages.
    - `by`: rank pairs by their "similarity", "resemblance", "containment" (the larger of both) or "longest" passage.
    - `minimum`: of what pairs are ranked by, from 0 to 1; for the longest passage, its words. By default, that at
      which a pair is worth a look.
    - `limit`: the number of pairs to return, None for all; `.total` counts all.
    - `base`: files and folders whose text does not count, such as code that was given to all.
    - `owner`: documents of one owner are not compared with each other. It is the first group of a regular expression,
      searched in the id of a document, or a CSV file with rows id,owner; `owner_field` names the field of rows that
      holds it. `fields` names the other fields of rows, if they have unusual names.
    - `submissions`: "folders" makes each sub-folder one document, "files" each file; "auto" decides by the folder.
    - `progress` is called with the phase, the amount done and the total.
    """
    options = PairOptions(
        scheme=scheme,
        by=by,
        minimum=minimum,
        limit=limit,
        base=base,
        owner=owner,
        owner_field=owner_field,
        fields=fields,
        submissions=submissions,
    )
    refuse_table(sources, "names of files or Document objects")
    return find(options, [sources] if isinstance(sources, str) else sources, progress=progress or no_progress)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions:
    """The options of `pairs`."""

    scheme: Scheme | None = None  # None: by the names of the files; with a store, its own, or that for programs
    by: Measure = "similarity"
    minimum: float | None = None  # None: by the measure and the scheme
    limit: int | None = None
    base: Sequence[str] = ()
    owner: str | None = None
    owner_field: str | None = None
    fields: FieldNames = USUAL
    submissions: Submissions = "auto"
    boilerplate: bool = True  # leave out the boilerplate of the store


def find(
    options: PairOptions,
    sources: Sequence[str] | Sequence[Document] = (),
    store: Store | None = None,
    progress: Progress = no_progress,
) -> Pairs:
    """Compare the documents of `sources` with each other and with the pages of `store`; or all pages of the store."""
    progress(READING, 0, None)
    read = _read(options, sources, store)
    base = base_texts(options.base, read)
    registered = RegisteredBoilerplate(store).read() if store and options.boilerplate else []
    exclusions = Exclusions([*registered, *base], read.scheme)
    documents = read.documents
    if store and sources:
        earlier = earlier_documents(store, documents, read.scheme, exclusions, progress)
        if read.scheme.form == "code":
            earlier, others = programs_only(earlier)
            read.unread += others
        earlier = grouped_files(earlier, options.submissions if read.folders else "files")
        documents = unique_ids([*documents, *earlier])
    elif store:
        documents = all_documents(store)
        if read.scheme.form == "code":
            documents, others = programs_only(documents)
            read.unread += others
        if not documents:
            raise QuestionError(f"there is nothing to compare in {store.name}")
    if options.owner is not None:
        documents, unknown = with_owners(documents, options.owner)
        read.unread += unknown
    found = find_pairs(
        documents,
        read.scheme,
        measure=options.by,
        minimum=default_minimum(options.by, read.scheme) if options.minimum is None else options.minimum,
        limit=options.limit,
        exclusions=exclusions,
        progress=progress,
    )
    return replace(found, folders=read.folders, base=len(base), unread=[*read.unread, *found.unread])


def _read(options: PairOptions, sources: Sequence[str] | Sequence[Document], store: Store | None) -> ReadDocuments:
    documents = [each for each in sources if isinstance(each, Document)]
    names = path_names(each for each in sources if not isinstance(each, Document))
    if store and not sources:
        return ReadDocuments([], options.scheme or _scheme_of(store), folders=False)
    if documents:
        read = ReadDocuments(unique_ids(documents), options.scheme or scheme_for(documents), folders=False)
    else:
        read = read_documents(
            names,
            options.scheme,
            how=options.submissions,
            except_for=options.base,
            fields=options.fields,
            owner_field=options.owner_field,
        )
    if store:
        _check_kind(store, read.scheme)
        read.scheme = options.scheme or _scheme_of(store)
    return read


def _check_kind(store: Store, scheme: Scheme) -> None:
    """Refuse a store of texts for programs, and one of programs for texts."""
    if (store.scheme.form == "code") == (scheme.form == "code"):
        return
    kept, read, preset = ("programs", "texts", "pages") if scheme.form != "code" else ("texts", "programs", "programs")
    raise QuestionError(
        f"{store.name} is a store of {kept}, and the documents are {read}: keep the earlier {read} in a store of their"
        f" own, made with winnow index SOURCE --store S --preset {preset}"
    )


def _scheme_of(store: Store) -> Scheme:
    """Return the scheme of the store; for programs, the preset programs if that is finer: copies are disguised."""
    programs = PRESETS["programs"]
    is_coarse = store.scheme.shingle > programs.shingle or store.scheme.noise > programs.noise
    return programs if store.scheme.form == "code" and is_coarse else store.scheme


def base_texts(names: Sequence[str], read: ReadDocuments) -> list[Boilerplate]:
    """Return the texts of base files, which do not count, and note those that cannot be read."""
    if not names:
        return []
    base = read_documents(names, read.scheme, how="files")
    read.unread += [each._replace(document="") for each in base.unread]
    return [Boilerplate(file.name, file.text) for document in base.documents for file in document.files]
