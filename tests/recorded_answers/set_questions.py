"""Questions to the functions that take texts or files: comparisons of two texts, pairs, and whole data sets."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from opensearch_winnow import (
    Scheme,
    compare,
    contaminated,
    deduplicate,
    deduplicate_rows,
    fingerprint,
    pairs,
    repeated_passages,
)
from opensearch_winnow.batch import PassageIndex
from opensearch_winnow.types import Document, DocumentFile
from tests.public_pages import HUTOOL, JARS, LUCENE, NABLARCH, jar, javadoc
from tests.recorded_answers import result_values as values
from tests.recorded_answers.question import Question, question, slow_question
from tests.recorded_answers.two_crawls import SECOND, crawls, licences, plain_text

SCHEMES = ("pages", "passages", "ideographs", "consonants", "koala")
DEDUPLICATED: tuple[dict[str, Any], ...] = (
    {"match": "identical"},
    {"match": "exact"},
    {"match": "near"},
    {"match": "near", "min_resemblance": 0.3, "keep": "longest"},
    {"match": "near", "min_resemblance": 0.9, "keep": "lowest:number"},
    {"match": "contained"},
    {"match": "contained", "min_containment": 0.5, "keep": "longest"},
)


def questions(folder: Path) -> Iterator[Question]:
    """Yield all questions. Files are written to the folder."""
    yield from _compared_texts()
    yield from _pairs(folder)
    yield from _deduplicated(folder)
    yield from _contaminated(folder)


def _compared_texts() -> Iterator[Question]:
    """Yield comparisons of the same page in two releases, in several schemes and scripts, and their fingerprints."""
    for releases in (LUCENE, HUTOOL, NABLARCH):
        old, new = (
            {page.url.removeprefix(each.url): page for page in javadoc(each, one_in=40)} for each in releases[:2]
        )
        for path in [path for path in old if path in new][:3]:
            a, b, about = plain_text(old[path]), plain_text(new[path]), {"site": releases[0].site, "path": path}
            for name in SCHEMES:
                yield question("compare texts", partial(_compared, a, b), about, scheme=name)
            yield question("fingerprints", partial(_fingerprints, a), about)
    programs = _programs()
    for one, other in ((0, 1), (0, 2), (1, 2), (1, 3)):
        program, copy = programs[one], programs[other]
        ask, answer = question if (one, other) == (0, 1) else slow_question, partial(_compared_programs, program, copy)
        for name in ("code", "programs", "pages"):
            yield ask("compare programs", answer, {"a": program.id, "b": copy.id}, scheme=name)


def _compared(a: str, b: str, _: object, scheme: str) -> Any:
    return values.comparison(compare(a, b, Scheme.preset(scheme)))


def _compared_programs(one: Document, other: Document, _: object, scheme: str) -> Any:
    (file,), (copy,) = one.files, other.files
    return values.comparison(compare(file.text, copy.text, Scheme.preset(scheme), names=(file.name, copy.name)))


def _fingerprints(text: str, _: object) -> Any:
    found = fingerprint(text)
    return {"positions": list(found.positions), "spans": [list(span) for span in found.spans]}


def _programs() -> list[Document]:
    """Return the scripts of the Javadoc releases. Some are nearly the same in two of them."""
    programs = []
    for release in (*LUCENE, *HUTOOL, *NABLARCH):
        with ZipFile(jar(f"{JARS[release.site]}-{release.version}-javadoc.jar")) as archive:
            for name in [name for name in ("script.js", "search.js") if name in archive.namelist()]:
                file = DocumentFile(name, archive.read(name).decode("utf-8"))
                programs.append(Document(f"{release.site}-{release.version}-{name}", (file,), release.site))
    return programs


def _texts(start: int, step: int) -> list[tuple[str, str]]:
    """Return addresses and texts of some licences, and of pages that quote licences."""
    notes = [page for page in crawls()[SECOND] if "notes." in page.url]
    return [(page.url, plain_text(page)) for page in [*licences()[start::step], *notes]]


def _pairs(folder: Path) -> Iterator[Question]:
    documents = [Document(url, (DocumentFile(url, text),)) for url, text in _texts(0, 16)]
    for options in ({}, {"min_resemblance": 0.2}, {"by": "containment"}, {"by": "longest", "limit": 5}):
        ask = slow_question if "limit" in options else question
        yield ask("pairs", partial(_pairs_of, documents), {"of": "licences"}, **options)
    programs = _programs()
    owned = [Document(each.id, each.files) for each in programs]
    for name, chosen in (("scripts of owners", programs), ("scripts", owned)):
        yield slow_question("pairs", partial(_pairs_of, chosen), {"of": name}, scheme="programs")
    essays = folder / "essays"
    essays.mkdir()
    for number, (_, text) in enumerate(_texts(3, 20)):
        (essays / f"{number:02}.txt").write_text(text, encoding="utf-8")
    given = folder / "given.txt"
    given.write_text(_texts(3, 20)[0][1][:3_000], encoding="utf-8")
    yield question("pairs", partial(_pairs_of_folder, essays, []), {"of": "a folder"})
    yield question("pairs", partial(_pairs_of_folder, essays, [str(given)]), {"of": "a folder, without a base"})


def _pairs_of(documents: Sequence[Document], _: object, scheme: str = "pages", **options: Any) -> Any:
    return values.pairs(pairs(documents, scheme=Scheme.preset(scheme), **options))


def _pairs_of_folder(essays: Path, base: Sequence[str], _: object) -> Any:
    return values.pairs(pairs(str(essays), base=base))


def _rows(start: int, step: int) -> list[dict[str, Any]]:
    return [{"id": url, "number": -number, "text": text} for number, (url, text) in enumerate(_texts(start, step))]


def _write(path: Path, rows: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def _deduplicated(folder: Path) -> Iterator[Question]:
    rows = [row for start in (0, 1, 5) for row in _rows(start, 9)]
    rows += [{**row, "id": f"{row['id']} again", "text": row["text"].upper()} for row in rows[::7]]
    rows += [{**row, "id": f"{row['id']} part", "text": row["text"][: len(row["text"]) // 2]} for row in rows[3:60:6]]
    earlier = _rows(2, 12)
    for options in DEDUPLICATED:
        ask = question if len(options) == 1 and options["match"] != "identical" else slow_question
        yield ask("deduplicate", partial(_deduplicate, rows), **options)
    against = partial(_deduplicate, rows, against=earlier)
    yield slow_question("deduplicate", against, {"earlier_set": True}, match="near")
    sources = [_write(folder / "rows.jsonl", rows), _write(folder / "more.jsonl", earlier)]
    files = partial(_deduplicate_files, folder, sources)
    yield slow_question("deduplicate", files, {"files": 2}, match="near", mark=True)
    repeated = partial(_repeated, folder, sources)
    yield question("repeated passages", repeated, words=50)
    yield question("repeated passages", repeated, words=100, documents=3, occurrences="every")


def _deduplicate(rows: Sequence[dict[str, Any]], _: object, **options: Any) -> Any:
    return values.deduplication(deduplicate_rows(rows, **options))


def _deduplicate_files(folder: Path, sources: Sequence[Path], _: object, **options: Any) -> Any:
    to = folder / "deduplicated.jsonl"
    found = deduplicate(sources, to, overwrite=True, **options)
    marked = [json.loads(line) for line in to.read_text(encoding="utf-8").splitlines()]
    return values.deduplication(found) | {"marked": [{**row, "text": len(row["text"])} for row in marked]}


def _repeated(folder: Path, sources: Sequence[Path], _: object, **options: Any) -> Any:
    to = folder / "cut.jsonl"
    found = repeated_passages(sources, to, overwrite=True, **options)
    lengths = [len(json.loads(line)["text"]) for line in to.read_text(encoding="utf-8").splitlines()]
    return values.repeated(found) | {"lengths": lengths}


def _contaminated(folder: Path) -> Iterator[Question]:
    train, texts = _write(folder / "train.jsonl", _rows(0, 9)), _texts(4, 18)
    evaluation = [{"id": url, "text": text[40 * number :][:600]} for number, (url, text) in enumerate(texts)]
    answer = partial(_contamination, folder, train, _write(folder / "evals.jsonl", evaluation))
    for options in ({}, {"words": 30}, {"min_containment": 0.5}, {"words": 8, "short": 4}):
        yield question("contaminated", answer, **options)
    yield question("contaminated", answer, cut=True)
    for url, text in _texts(0, 80):
        yield question("passage index", partial(_indexed, [text for _, text in texts], text), {"of": url})


def _contamination(folder: Path, train: Path, evals: Path, _: object, **options: Any) -> Any:
    return values.contamination(contaminated(train, evals, clean=folder / "clean.jsonl", overwrite=True, **options))


def _indexed(texts: Sequence[str], text: str, _: object) -> Any:
    return [[each.start, each.end, each.text] for each in PassageIndex(texts, words=13).find(text)]
