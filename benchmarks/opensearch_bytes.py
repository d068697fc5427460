"""Bytes of a page on OpenSearch by field: how much smaller the index is without the field, and what a codec saves."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.opensearch_bulk import Loading, loading
from benchmarks.table import Run, Table
from opensearch_winnow.mappings.opensearch_mapping import FIELDS

PAGES = 3_000  # of each set
MIN_BYTES = 40  # of a field to be listed: the sizes of two indices with the same pages differ by up to 15
CODECS = ("default", "best_compression")


def tables(run: Run) -> Iterator[Table]:
    with loading(run.size(PAGES, least=5)) as load:
        yield fields_table(load)
        yield codecs_table(load)


def bytes_of_a_page(load: Loading, *, without: str = "", codec: str = "default") -> float:
    load.all_fields(without=without, codec=codec)
    return load.size() / len(load.records)


def fields_table(load: Loading) -> Table:
    whole = bytes_of_a_page(load)
    saved = {field: whole - bytes_of_a_page(load, without=field) for field in FIELDS}
    listed = sorted((field for field in FIELDS if saved[field] >= MIN_BYTES), key=saved.__getitem__, reverse=True)
    rows = [(f"`{field}`", f"{saved[field]:,.0f}", f"{saved[field] / whole:.1%}") for field in listed]
    return Table(
        f"{len(load.records):,} real pages, {whole:,.0f} bytes each",
        ("without", "bytes less", "share"),
        rows,
        f"As one segment. Fields that take fewer than {MIN_BYTES} bytes are not listed.",
    )


def codecs_table(load: Loading) -> Table:
    rows = []
    for codec in CODECS:
        load.texts(codec=codec)
        plain = load.size() / len(load.records)
        whole = bytes_of_a_page(load, codec=codec)
        rows.append((f"`{codec}`", f"{plain:,.0f}", f"{whole:,.0f}", f"{whole / plain:.2f} ×"))
    return Table("The codecs that every engine has", ("codec", "bytes of title and text", "of all fields", ""), rows)
