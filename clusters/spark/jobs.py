"""Runs work as a group of Spark jobs: sets the session's options, cancels the jobs on Ctrl-C, and explains errors."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from time import monotonic, sleep
from typing import TypeVar
from uuid import uuid4

from py4j.protocol import Py4JError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from opensearch_winnow.clusters.options import ClusterError
from opensearch_winnow.clusters.spark.hadoop_files import without_file_scheme
from opensearch_winnow.mappings.record import RecordsError

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # keep times before 1900 as they are
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.files.ignoreCorruptFiles": "false",  # lose nothing silently
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.adaptive.enabled": "true",  # merge or split partitions by size
    # Rows that Python gets at a time. Some rows have a few bytes, others a text of megabytes.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "32000000",
}
DAMAGED_FILE = re.compile(r"\[FAILED_READ_FILE[^\]]*\] .*? file (\S+?)\.(?:\s|$)")
CAUSE = re.compile(r"^Caused by: (?:[\w.$]+\.)?([A-Za-z]\w*(?::.*)?)$", re.MULTILINE)
OUR_ERROR = re.compile(r"^opensearch_winnow\.\S+Error: (.+)$", re.MULTILINE)
TASKS_TIMEOUT_SECONDS = 30.0  # the running tasks may be those of another user of the session
STATUS_DELAY_SECONDS = 0.3  # Spark's status of tasks may be this late
T = TypeVar("T")


@contextmanager
def session_settings(session: SparkSession) -> Iterator[None]:
    """Set SETTINGS in the session, and restore its own settings at the end."""
    before = {name: session.conf.get(name, None) for name in SETTINGS}
    for name, value in SETTINGS.items():
        session.conf.set(name, value)
    try:
        yield
    finally:
        for name, old in before.items():
            if old is None:
                session.conf.unset(name)
            else:
                session.conf.set(name, old)


def run_job_group(session: SparkSession, description: str, work: Callable[[], T]) -> T:
    """Call `work`, cancel its jobs if it is interrupted, and raise errors of Spark as one sentence.

    `work` runs in its own thread: Ctrl-C interrupts the main thread, and interrupting a thread that waits for Java
    would leave its connection out of step for good.
    """
    context = session.sparkContext
    group = f"winnow-{uuid4()}"

    def in_group() -> T:
        context.setJobGroup(group, description, interruptOnCancel=True)
        with session_settings(session):
            return work()

    with ThreadPoolExecutor(1, "winnow") as pool:
        running = pool.submit(in_group)
        try:
            return running.result()
        except (PySparkException, Py4JError) as error:
            raise readable_error(error) from error  # the cause has a hundred lines, for developers
        except BaseException:
            while not running.done():  # repeated, because it may be between two jobs
                context.cancelJobGroup(group)
                wait([running], timeout=0.2)
            raise


@contextmanager
def waiting_for_tasks(session: SparkSession) -> Iterator[None]:
    """After a failure, wait until no task runs: tasks of a cancelled job may go on writing for a moment."""
    try:
        yield
    except BaseException:
        end = monotonic() + TASKS_TIMEOUT_SECONDS
        sleep(STATUS_DELAY_SECONDS)
        while monotonic() < end and _running_tasks(session):
            sleep(STATUS_DELAY_SECONDS)
        raise


def _running_tasks(session: SparkSession) -> int:
    executors = session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return sum(int(each.numRunningTasks()) for each in executors)


def readable_error(error: Exception) -> ClusterError | RecordsError:
    """Return an error of one sentence for an error of Spark, which may have a hundred lines."""
    text = str(error)
    ours = OUR_ERROR.search(text)  # raised by our code in a task
    if ours:
        return ClusterError(ours[1])
    reasons = CAUSE.findall(text)
    reason = reasons[-1] if reasons else _first_line(error)
    damaged = DAMAGED_FILE.search(text)
    if damaged:
        file = without_file_scheme(damaged[1])
        return RecordsError(f"{file} cannot be read as a record file, or is damaged: {reason}")
    return ClusterError(f"Spark failed: {reason}")


def _first_line(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.toString())
    return text.strip().partition("\n")[0]
