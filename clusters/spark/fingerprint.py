"""Raw pages to record files on Spark: web archives, JSON lines, HTML, and tables of pages."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from functools import partial, reduce

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812
from pyspark.sql.pandas.types import from_arrow_schema

from opensearch_winnow.clusters.asked import Progress
from opensearch_winnow.clusters.spark.hadoop_files import HadoopFiles, escaped
from opensearch_winnow.clusters.spark.outputs import Outputs
from opensearch_winnow.clusters.spark.page_outcomes import OUTCOMES, from_sources, from_table
from opensearch_winnow.clusters.spark.remote_files import is_remote
from opensearch_winnow.clusters.spark.scratch import Scratch
from opensearch_winnow.clusters.spark.settings import in_jobs, until_tasks_end
from opensearch_winnow.ingest.page_record import Recipe
from opensearch_winnow.ingest.report import Damaged, Report
from opensearch_winnow.ingest.seen import OTHER_CONTENT
from opensearch_winnow.ingest.sources import STDIN, SourceError, Sources
from opensearch_winnow.ingest.sources.page_fields import FIELDS
from opensearch_winnow.ingest.sources.parquet import check_columns
from opensearch_winnow.ingest.sources.split import Split
from opensearch_winnow.mappings.record_columns import SCHEMA
from opensearch_winnow.mappings.record_metadata import METADATA, metadata_of
from opensearch_winnow.mappings.written_scheme import written
from opensearch_winnow.record_files.atomic_parquet import ROW_GROUP_BYTES

SPLIT = 64_000_000  # bytes of a source that are one task
LISTED = 1_000  # damaged places that a report tells one by one
# Places of tables come after those of files, and those of the second table after those of the first.
TABLES, TABLE = 2**62, 2**54


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
    """Make records of the pages in `sources`, and put them into the folder `to` when all is done.

    Local sources are what `winnow index` takes, in places that all machines see. Of others, such as s3a:// or hdfs://,
    each is a file, or a folder of files, that a task copies to its own disk first; but tables of Parquet are read by
    Spark itself. Pages that failed are kept beside, in `to`.failed if nothing else is named: a table of pages that can
    be a source again. Of one capture that comes twice the first counts.
    """
    start = time.monotonic()
    targets = (to, failed or f"{to.rstrip('/')}.failed")

    def work() -> Report:
        with ExitStack() as stack:
            files = HadoopFiles(session)
            outputs = Outputs(files, targets, overwrite=overwrite)
            stack.callback(outputs.discard)
            scratch = Scratch(session, files, outputs.scratch)
            stack.callback(scratch.close)
            stack.enter_context(until_tasks_end(session))
            _say(progress, "reading pages", 0)
            pages = _pages(session, files, sources, base, recipe, stack)
            outcomes = scratch.keep("outcomes", pages)
            repeated = scratch.keep("repeated", _repeated(outcomes))
            report = _report(outcomes, repeated)
            _say(progress, "writing records", 1)
            outputs.write(to, _records(outcomes, repeated, recipe), {"parquet.block.size": str(ROW_GROUP_BYTES)})
            if report.failed:
                failures = outcomes.where("outcome = 'failed'")
                outputs.write(targets[1], failures.select("page.*", "reason", "source"))
            outputs.place()
        return report

    report = in_jobs(session, "winnow fingerprint", work)
    report.seconds = time.monotonic() - start
    return report


def _say(progress: Progress | None, step: str, done: int) -> None:
    if progress is not None:
        progress(step, done, 2)


def _pages(
    session: SparkSession, files: HadoopFiles, sources: Sequence[str], base: str, recipe: Recipe, stack: ExitStack
) -> DataFrame:
    """What became of all pages: a row of OUTCOMES each."""
    tables = [name for name in sources if _is_table(files, name)]
    archives = [name for name in sources if name not in tables]
    splits: list[Split | str] = []
    for name in filter(is_remote, archives):
        found = files.listed(name)
        if not found:
            raise SourceError(f"there is no file or folder {name}")
        splits += [file.path for file in found]
    local = [name for name in archives if not is_remote(name)]
    if local or not sources:
        splits += stack.enter_context(Sources(local, base=base)).splits(SPLIT)
    schema = from_arrow_schema(OUTCOMES)
    parts = [
        _table(session, files.full(name), TABLES + number * TABLE).mapInArrow(
            partial(from_table, source=name, recipe=recipe), schema
        )
        for number, name in enumerate(tables)
    ]
    if splits:
        tasks = session.range(0, len(splits), 1, len(splits))  # one in each partition
        reading = partial(from_sources, splits=splits, base=base, recipe=recipe)
        parts.append(tasks.mapInArrow(reading, schema))
    return reduce(DataFrame.unionByName, parts)


def _is_table(files: HadoopFiles, name: str) -> bool:
    """A Parquet file, or a folder with some."""
    found = files.listed(name) if name != STDIN else None
    return any(file.name.endswith(".parquet") and not file.name.startswith((".", "_")) for file in found or ())


def _table(session: SparkSession, name: str, start: int) -> DataFrame:
    rows = session.read.parquet(escaped(name))
    check_columns(rows.columns, name)
    place = F.monotonically_increasing_id() + F.lit(start)
    return rows.select(*(column for column in rows.columns if column in FIELDS), place.alias("place"))


def _repeated(outcomes: DataFrame) -> DataFrame:
    """The places of records of a capture that was there before, and whether its content was the same."""
    captures = Window.partitionBy("id").orderBy("place")
    made = outcomes.where("outcome = 'indexed'").select("place", "record.id", "record.content_digest")
    first = F.first("content_digest").over(captures)
    turns = made.select(
        "place", F.row_number().over(captures).alias("turn"), (F.col("content_digest") == first).alias("same")
    )
    return turns.where("turn > 1").drop("turn")


def _report(outcomes: DataFrame, repeated: DataFrame) -> Report:
    report = Report()
    damage = outcomes.where("outcome = 'damaged'").orderBy("place").limit(LISTED)
    report.damaged = [Damaged(*row) for row in damage.select("source", "offset", "skipped", "reason").collect()]
    counted = outcomes.groupBy("outcome", "reason").agg(F.count("*"), F.sum("skipped"))
    for outcome, reason, count, skipped in counted.collect():
        if outcome == "indexed":
            report.indexed += count
        elif outcome == "damaged":
            report.damaged_places += count
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
    made = outcomes.where("outcome = 'indexed'").join(repeated, "place", "left_anti").select("record.*")
    schema = from_arrow_schema(SCHEMA)
    # Spark writes no keys of ours into a file, but what is said of a column it does.
    schema["id"].metadata = {METADATA.decode(): metadata_of(written(recipe.scheme)).decode()}
    return made.mapInArrow(_unchanged, schema)


def _unchanged(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Only to tell Spark where there are no nulls, which it expects in all that was read."""
    return batches
