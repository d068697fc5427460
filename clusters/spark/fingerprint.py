"""Makes record files from raw pages on Spark: web archives, JSON lines, HTML files and tables of pages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import partial, reduce

import pyarrow as pa
from pyspark.sql import (
    DataFrame,
    SparkSession,
    Window,
    functions as F,  # noqa: N812
)
from pyspark.sql.pandas.types import from_arrow_schema

from opensearch_winnow.clusters.spark.hadoop_files import HadoopFiles, escape_pattern
from opensearch_winnow.clusters.spark.jobs import run_job_group, waiting_for_tasks
from opensearch_winnow.clusters.spark.outputs import Outputs, Scratch
from opensearch_winnow.clusters.spark.page_outcomes import OUTCOMES, is_remote, outcomes_of_sources, outcomes_of_table
from opensearch_winnow.foundation.key_file import with_key
from opensearch_winnow.foundation.progress import Progress
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.ingest.runs.ledger import OTHER_CONTENT
from opensearch_winnow.ingest.runs.report import Damaged, Report
from opensearch_winnow.ingest.sources import STDIN, SourceError, Sources
from opensearch_winnow.ingest.sources.field_names import FIELDS
from opensearch_winnow.ingest.sources.parquet import check_columns
from opensearch_winnow.ingest.sources.split import Split
from opensearch_winnow.ingest.sources.splits import splits as planned_splits
from opensearch_winnow.mappings.record_columns import SCHEMA
from opensearch_winnow.mappings.record_metadata import METADATA, metadata_of
from opensearch_winnow.mappings.written_scheme import written
from opensearch_winnow.record_files.atomic_parquet import ROW_GROUP_BYTES

SPLIT_BYTES = 64_000_000  # of a source, read by one task
MAX_DAMAGE_LISTED = 1_000  # damaged ranges that a report lists one by one
# Positions of pages in tables come after those in files, and those of the second table after those of the first.
FIRST_TABLE_POSITION, POSITIONS_PER_TABLE = 2**62, 2**54


def fingerprint_on_spark(
    sources: Sequence[str],
    to: str,
    recipe: Recipe,
    *,
    session: SparkSession,
    failed: str | None = None,
    base: str = "",
    overwrite: bool = False,
    progress: Progress | None = None,
) -> Report:
    """Make records of the pages in `sources`, and write them to the folder `to`, which appears at the end.

    Local sources are the same as for `winnow index`, on a disk that all machines see. A remote source (s3a://, hdfs://
    and others) is a file or a folder of files, and a task copies each file to its own disk first. Parquet tables are
    read by Spark itself. Failed pages are written to `failed`, by default `to`.failed: a table that can be a source
    again. If a capture occurs twice, the first one counts.
    """
    start = time.monotonic()
    recipe = replace(recipe, scheme=with_key(recipe.scheme))  # here: tasks get the key with the recipe
    targets = (to, failed or f"{to.rstrip('/')}.failed")

    def work() -> Report:
        with ExitStack() as stack:
            files = HadoopFiles(session)
            outputs = Outputs(files, targets, overwrite=overwrite)
            stack.callback(outputs.discard)
            scratch = Scratch(session, files, outputs.scratch_folder)
            stack.callback(scratch.close)
            stack.enter_context(waiting_for_tasks(session))
            _report_progress(progress, "reading pages", 0)
            pages = _read_pages(session, files, sources, base, recipe, stack)
            outcomes = scratch.keep("outcomes", pages)
            repeated = scratch.keep("repeated", _repeated_captures(outcomes))
            report = _make_report(outcomes, repeated)
            _report_progress(progress, "writing records", 1)
            outputs.write(to, _records(outcomes, repeated, recipe), {"parquet.block.size": str(ROW_GROUP_BYTES)})
            if report.failed:
                failures = outcomes.where("outcome = 'failed'")
                outputs.write(targets[1], failures.select("page.*", "reason", "source"))
            outputs.commit()
        return report

    report = run_job_group(session, "winnow fingerprint", work)
    report.seconds = time.monotonic() - start
    return report


def _report_progress(progress: Progress | None, phase: str, done: int) -> None:
    if progress is not None:
        progress(phase, done, 2)


def _read_pages(
    session: SparkSession, files: HadoopFiles, sources: Sequence[str], base: str, recipe: Recipe, stack: ExitStack
) -> DataFrame:
    """Return a row of OUTCOMES for each page."""
    tables = [name for name in sources if _is_table(files, name)]
    archives = [name for name in sources if name not in tables]
    splits: list[Split | str] = []
    for name in filter(is_remote, archives):
        listed = files.list_files(name)
        if not listed:
            raise SourceError(f"there is no file or folder {name}")
        splits += [file.path for file in listed]
    local = [name for name in archives if not is_remote(name)]
    if local or not sources:
        splits += planned_splits(stack.enter_context(Sources(local, base=base)), SPLIT_BYTES)
    schema = from_arrow_schema(OUTCOMES)
    parts = [
        _read_table(session, files.full_path(name), FIRST_TABLE_POSITION + number * POSITIONS_PER_TABLE).mapInArrow(
            partial(outcomes_of_table, source=name, recipe=recipe), schema
        )
        for number, name in enumerate(tables)
    ]
    if splits:
        tasks = session.range(0, len(splits), 1, len(splits))  # one row in each partition
        reading = partial(outcomes_of_sources, splits=splits, base=base, recipe=recipe)
        parts.append(tasks.mapInArrow(reading, schema))
    return reduce(DataFrame.unionByName, parts)


def _is_table(files: HadoopFiles, name: str) -> bool:
    """Return whether it is a Parquet file, or a folder with Parquet files."""
    listed = files.list_files(name) if name != STDIN else None
    return any(file.name.endswith(".parquet") and not file.name.startswith((".", "_")) for file in listed or ())


def _read_table(session: SparkSession, name: str, start: int) -> DataFrame:
    rows = session.read.parquet(escape_pattern(name))
    check_columns(rows.columns, name)
    position = F.monotonically_increasing_id() + F.lit(start)
    return rows.select(*(column for column in rows.columns if column in FIELDS), position.alias("position"))


def _repeated_captures(outcomes: DataFrame) -> DataFrame:
    """Return the positions of records whose capture occurred before, and whether it had the same content."""
    captures = Window.partitionBy("id").orderBy("position")
    made = outcomes.where("outcome = 'indexed'").select("position", "record.id", "record.content_digest")
    first = F.first("content_digest").over(captures)
    turns = made.select(
        "position", F.row_number().over(captures).alias("turn"), (F.col("content_digest") == first).alias("same")
    )
    return turns.where("turn > 1").drop("turn")


def _make_report(outcomes: DataFrame, repeated: DataFrame) -> Report:
    report = Report()
    damage = outcomes.where("outcome = 'damaged'").orderBy("position").limit(MAX_DAMAGE_LISTED)
    report.damaged = [Damaged(*row) for row in damage.select("source", "offset", "skipped", "reason").collect()]
    counted = outcomes.groupBy("outcome", "reason").agg(F.count("*"), F.sum("skipped"))
    for outcome, reason, count, skipped in counted.collect():
        if outcome == "indexed":
            report.indexed += count
        elif outcome == "damaged":
            report.damaged_ranges += count
            report.damaged_bytes += skipped
        else:
            (report.skipped if outcome == "skipped" else report.failed)[reason] += count
    for same, count in repeated.groupBy("same").count().collect():
        report.indexed -= count
        if same:
            report.unchanged += count
        else:
            report.skipped[OTHER_CONTENT] += count
    return report


def _records(outcomes: DataFrame, repeated: DataFrame, recipe: Recipe) -> DataFrame:
    made = outcomes.where("outcome = 'indexed'").join(repeated, "position", "left_anti").select("record.*")
    schema = from_arrow_schema(SCHEMA)
    # Spark cannot write our metadata of a file, but it writes the metadata of a column.
    schema["id"].metadata = {METADATA.decode(): metadata_of(written(recipe.scheme)).decode()}
    return made.mapInArrow(_identity, schema)


def _identity(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Return the same batches. Only a new schema tells Spark which columns have no nulls."""
    return batches
