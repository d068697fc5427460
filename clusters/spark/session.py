"""The session: the one that is there, or one of our own on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from opensearch_winnow.clusters.asked import ClusterError
from opensearch_winnow.clusters.spark.java import find_java, java_home
from opensearch_winnow.foundation.extras import extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NOTHING: Mapping[str, str] = {}
LOCAL = {
    "spark.master": "local[*]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "16",  # of a million pages each sorts some 3 million tokens
}
# Where a cluster may be named: then nothing is to be said of it here.
ELSEWHERE = ("MASTER", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
# The second logger stands for PySpark's way of starting, which else says on stderr what it does about levels.
LOGGING = """rootLogger.level = fatal
logger.gateway.name = org.apache.spark.api.python.PythonGatewayServer
logger.gateway.level = fatal
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n%ex
"""


def spark_session(options: Mapping[str, str] = NOTHING) -> SparkSession:
    """The session of a notebook or of spark-submit; else a new one, on this machine if nothing names a cluster.

    `options` are settings of Spark, such as spark.master or spark.driver.memory.
    """
    with extra("spark"):
        from pyspark import SparkContext  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
        from pyspark.sql.utils import is_remote  # noqa: PLC0415
    if is_remote():
        raise ClusterError("a session of Spark Connect cannot be used: unset SPARK_REMOTE, or run it with spark-submit")
    builder = SparkSession.builder.appName("winnow")
    if SparkContext._active_spark_context is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return builder.config(map={**options}).getOrCreate()
    try:
        with _starting(options) as settings:
            return builder.config(map={**settings}).getOrCreate()
    except ClusterError:
        raise
    except Exception as error:  # Java has said why on stderr
        raise ClusterError(f"Spark does not start: {str(error).strip().partition(chr(10))[0]}") from error


@contextmanager
def _starting(options: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """The settings, and the surroundings, that a new Java is started with; then they are not needed any more."""
    elsewhere = any(name in os.environ for name in ELSEWHERE)
    here = options.get("spark.master", "elsewhere" if elsewhere else "local").startswith("local")
    settings = {**(LOCAL if here else {}), **options}
    before = dict(os.environ)
    with TemporaryDirectory(prefix="winnow-java-") as name:
        folder = Path(name)
        os.environ["JAVA_HOME"] = str(java_home(find_java(), folder))
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if here:
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            logging = folder / "log4j2.properties"
            logging.write_text(LOGGING, encoding="utf-8")
            flags = settings.get("spark.driver.extraJavaOptions", "")
            settings["spark.driver.extraJavaOptions"] = f"-Dlog4j2.configurationFile={logging.as_uri()} {flags}".strip()
        try:
            yield settings
        finally:
            os.environ.clear()
            os.environ.update(before)
