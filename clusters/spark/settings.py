"""What Spark is told while we use it, and what it says when it fails."""

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

from opensearch_winnow.clusters.asked import ClusterError
from opensearch_winnow.clusters.spark.hadoop_files import shown
from opensearch_winnow.mappings.record import RecordsError

SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
    "spark.sql.parquet.datetimeRebaseModeInRead": "CORRECTED",  # times before 1900 as they are
    "spark.sql.parquet.datetimeRebaseModeInWrite": "CORRECTED",
    "spark.sql.parquet.compression.codec": "zstd",
    "spark.sql.files.ignoreCorruptFiles": "false",  # nothing is lost silently
    "spark.sql.files.ignoreMissingFiles": "false",
    "spark.sql.adaptive.enabled": "true",  # partitions are joined or cut by their size
    # Rows that Python gets at a time: of some a row has bytes, of others it may have a text of megabytes.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "10000",
    "spark.sql.execution.arrow.maxBytesPerBatch": "32000000",
}
DAMAGE = re.compile(r"\[FAILED_READ_FILE[^\]]*\] .*? file (\S+?)\.(?:\s|$)")
CAUSE = re.compile(r"^Caused by: (?:[\w.$]+\.)?([A-Za-z]\w*(?::.*)?)$", re.MULTILINE)
OURS = re.compile(r"^opensearch_winnow\.\S+Error: (.+)$", re.MULTILINE)
ENDING = 30.0  # seconds at most; others may have tasks, too
LATE = 0.3  # seconds that what is said of tasks may be late
T = TypeVar("T")


@contextmanager
def our_settings(session: SparkSession) -> Iterator[None]:
    """The session with our settings, and with its own again afterwards."""
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


def in_jobs(session: SparkSession, what: str, work: Callable[[], T]) -> T:
    """Do the work, whose jobs end with us however we end, and whose failures are told in words.

    It has a thread of its own: Ctrl-C comes to the main one, and to break off a thread that waits for Java would leave
    it out of step with Java for good.
    """
    context = session.sparkContext
    group = f"winnow-{uuid4()}"

    def in_group() -> T:
        context.setJobGroup(group, what, interruptOnCancel=True)
        with our_settings(session):
            return work()

    with ThreadPoolExecutor(1, "winnow") as pool:
        doing = pool.submit(in_group)
        try:
            return doing.result()
        except (PySparkException, Py4JError) as error:
            raise in_words(error) from error  # a hundred lines that tell a developer more
        except BaseException:
            while not doing.done():  # again and again: it may be between two jobs
                context.cancelJobGroup(group)
                wait([doing], timeout=0.2)
            raise


@contextmanager
def until_tasks_end(session: SparkSession) -> Iterator[None]:
    """After a failure wait for the tasks: a job that is over may leave some, which go on writing for a moment."""
    try:
        yield
    except BaseException:
        end = monotonic() + ENDING
        sleep(LATE)
        while monotonic() < end and _running(session):
            sleep(LATE)
        raise


def _running(session: SparkSession) -> int:
    executors = session.sparkContext._jsc.sc().statusTracker().getExecutorInfos()
    return sum(int(each.numRunningTasks()) for each in executors)


def in_words(error: Exception) -> ClusterError | RecordsError:
    """One sentence of what may be a hundred lines."""
    text = str(error)
    ours = OURS.search(text)  # said in a task
    if ours:
        return ClusterError(ours[1])
    reasons = CAUSE.findall(text)
    reason = reasons[-1] if reasons else _first_line(error)
    damage = DAMAGE.search(text)
    if damage:
        return RecordsError(f"{shown(damage[1])} cannot be read as a record file, or is damaged: {reason}")
    return ClusterError(f"Spark could not do it: {reason}")


def _first_line(error: Exception) -> str:
    java = getattr(error, "java_exception", None)
    text = str(error) if java is None else str(java.toString())
    return text.strip().partition("\n")[0]
