"""Compares all documents of a set with each other, and with the pages of a store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import get_args

from opensearch_winnow.foundation.errors import QuestionError
from opensearch_winnow.foundation.keywords import with_options
from opensearch_winnow.foundation.option_kinds import FLAG, number, one_of, path, repeated, share, text
from opensearch_winnow.foundation.options import Options, group, option
from opensearch_winnow.foundation.path_names import PathName, path_names
from opensearch_winnow.foundation.progress import Progress, no_progress
from opensearch_winnow.foundation.scheme import PRESETS, Scheme
from opensearch_winnow.foundation.tables import refuse_table
from opensearch_winnow.ingest.sources.field_names import FieldNames
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

MAX_PAIRS = MAX_WORDS = 1_000_000_000
MEASURES: tuple[Measure, ...] = get_args(Measure)


@dataclass(frozen=True, slots=True, kw_only=True)
class PairOptions(Options):
    """The options of `pairs`."""

    scheme: Scheme | None = None  # None: by the names of the files; with a store, its own, or that for programs
    by: Measure | None = option(
        None,
        one_of(*MEASURES),
        "Rank pairs by this. containment: of A in B or of B in A, the larger. longest: the longest shared passage.",
        unset="similarity, or that of the minimum that is given",
    )
    min_similarity: float | None = option(
        None, share(), "List pairs whose similarity is at least X.", unset="0.4 for programs, 0.1 for texts"
    )
    min_resemblance: float | None = option(
        None,
        share(),
        "List pairs whose resemblance is at least X.",
        unset="0.3 for programs, 0.1 for texts",
        advanced=True,
    )
    min_containment: float | None = option(
        None,
        share(),
        "List pairs of which at least X of one is in the other.",
        unset="0.3 for programs, 0.1 for texts",
        advanced=True,
    )
    min_longest: int | None = option(
        None,
        number(0, MAX_WORDS),
        "List pairs whose longest passage has at least N words, or tokens of a program.",
        advanced=True,
    )
    limit: int | None = option(
        None, number(1, MAX_PAIRS), "List N pairs.", unset="all; fewer on a terminal", advanced=True
    )
    base: Sequence[str] = option(
        (),
        repeated(path("P")),
        "A file or folder whose text does not count, such as code that was given to all. Can be repeated.",
    )
    owner: str | None = option(
        None,
        text("RULE", 10_000),
        "Do not compare documents of one owner: a regular expression whose first group, or else all that it matches,"
        " is in the name of a document; or a CSV file with rows id,owner.",
        advanced=True,
    )
    owner_field: str | None = option(None, text("NAME"), "The field of rows that names their owner.", advanced=True)
    fields: FieldNames = group(FieldNames)
    submissions: Submissions = option(
        "auto",
        one_of(*get_args(Submissions)),
        "Compare files, or sub-folders with all their files. auto: decided by the files in the folder.",
        advanced=True,
    )
    progress: Progress | None = None

    def __post_init__(self) -> None:
        Options.__post_init__(self)
        given = [f"min_{measure}" for measure in self._minima]
        if len(given) > 1:
            raise QuestionError(f"pairs are ranked by one measure: give only one of {', '.join(given)}")
        if given and given != [f"min_{self.measure}"]:
            raise QuestionError(f"pairs are ranked by {self.measure}: give min_{self.measure}, not {given[0]}")

    @property
    def measure(self) -> Measure:
        """The measure that ranks the pairs: `by`, or the measure of the given minimum."""
        return self.by or next(iter(self._minima), None) or "similarity"

    @property
    def _minima(self) -> dict[Measure, float]:
        """The given minima, by their measures."""
        minima = {measure: getattr(self, f"min_{measure}") for measure in MEASURES}
        return {measure: minimum for measure, minimum in minima.items() if minimum is not None}

    def min_score(self, scheme: Scheme) -> float:
        """Return the minimum of the measure: the given one, or the default."""
        return self._minima.get(self.measure, default_minimum(self.measure, scheme))


@dataclass(frozen=True, slots=True)
class PairsQuestion(PairOptions):
    """The documents that are compared with the pages of a store; without any, its pages with each other."""

    sources: PathName | Sequence[PathName] | Sequence[Document] = ()
    _: KW_ONLY
    boilerplate: bool = option(True, FLAG, "Treat the store's boilerplate as ordinary text.", advanced=True)


@with_options(PairOptions)
def pairs(sources: PathName | Sequence[PathName] | Sequence[Document], options: PairOptions) -> Pairs:
    """Compare all documents of `sources` with each other, and return the pairs that are similar, the best first.

    Sources are files, folders and patterns, or documents. A zip file is read like a folder; a file of JSON lines, CSV
    or Parquet has a document in each row. Nothing is sampled: all pairs are compared.

    - `scheme`: by default, the preset programs if the files are programs, otherwise pages.
    - `by`: rank pairs by their "similarity", "resemblance", "containment" (the larger of both) or "longest" passage.
    - `min_similarity`, `min_resemblance`, `min_containment` (from 0 to 1) or `min_longest` (in words): the minimum of
      the measure that ranks pairs; without `by`, it chooses the measure. The default depends on the measure and scheme.
    - `limit`: the number of pairs to return, None for all; `.total` counts all.
    - `base`: files and folders whose text does not count, such as code that was given to all.
    - `owner`: documents of one owner are not compared with each other. It is the first group of a regular expression,
      searched in the id of a document, or a CSV file with rows id,owner; `owner_field` names the field of rows that
      holds it. `fields` names the other fields of rows, if they have unusual names.
    - `submissions`: "folders" makes each sub-folder one document, "files" each file; "auto" decides by the folder.
    - `progress` is called with the phase, the amount done and the total.
    """
    refuse_table(sources, "names of files or Document objects")
    return find(options.extended(PairsQuestion, sources=sources), None)


def find(options: PairsQuestion, store: Store | None) -> Pairs:
    """Compare the sources with each other and with the pages of `store`; or all pages of the store."""
    sources = [options.sources] if isinstance(options.sources, (str, os.PathLike)) else options.sources
    progress = options.progress or no_progress
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
        measure=options.measure,
        min_score=options.min_score(read.scheme),
        limit=options.limit,
        exclusions=exclusions,
        progress=progress,
    )
    return replace(found, folders=read.folders, base=len(base), unread=[*read.unread, *found.unread])


def _read(options: PairOptions, sources: Sequence[PathName] | Sequence[Document], store: Store | None) -> ReadDocuments:
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
    """Return the texts of base files, which do not count, and note unreadable ones."""
    if not names:
        return []
    base = read_documents(names, read.scheme, how="files")
    read.unread += [each._replace(document="") for each in base.unread]
    return [Boilerplate(file.name, file.text) for document in base.documents for file in document.files]
