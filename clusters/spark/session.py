"""Returns the running Spark session, or starts one."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from opensearch_winnow.clusters.options import ClusterError
from opensearch_winnow.clusters.spark.java import find_java, java_home
from opensearch_winnow.foundation.extras import extra

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NO_SETTINGS: Mapping[str, str] = {}
LOCAL_SETTINGS = {
    "spark.master": "local[*]",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "16",  # for a million pages each one sorts about 3 million tokens
}
# Environment variables that may name a cluster. If one is set, spark.master is left alone.
CLUSTER_VARIABLES = ("MASTER", "PYSPARK_SUBMIT_ARGS", "SPARK_CONF_DIR", "SPARK_HOME")
# The second logger is PySpark's launcher, which would otherwise write about log levels to stderr.
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


def spark_session(settings: Mapping[str, str] = NO_SETTINGS) -> SparkSession:
    """Return the session of a notebook or of spark-submit, or start one, on this machine if no cluster is configured.

    `settings` are those of Spark, such as spark.master or spark.driver.memory.
    """
    with extra("spark"):
        from pyspark import SparkContext  # noqa: PLC0415
        from pyspark.sql import SparkSession  # noqa: PLC0415
        from pyspark.sql.utils import is_remote  # noqa: PLC0415
    if is_remote():
        raise ClusterError("Spark Connect is not supported: unset SPARK_REMOTE, or use spark-submit")
    builder = SparkSession.builder.appName("winnow")
    if SparkContext._active_spark_context is not None or "PYSPARK_GATEWAY_PORT" in os.environ:
        return builder.config(map={**settings}).getOrCreate()
    try:
        with _java_environment(settings) as all_settings:
            return builder.config(map={**all_settings}).getOrCreate()
    except ClusterError:
        raise
    except Exception as error:  # Java has written the reason to stderr
        raise ClusterError(f"Spark did not start: {str(error).strip().partition(chr(10))[0]}") from error


@contextmanager
def _java_environment(settings: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Set the environment for starting Java, yield all settings for it, and restore the environment."""
    has_cluster = any(name in os.environ for name in CLUSTER_VARIABLES)
    is_local = settings.get("spark.master", "cluster" if has_cluster else "local").startswith("local")
    all_settings = {**(LOCAL_SETTINGS if is_local else {}), **settings}
    before = dict(os.environ)
    with TemporaryDirectory(prefix="winnow-java-") as name:
        folder = Path(name)
        os.environ["JAVA_HOME"] = str(java_home(find_java(), folder))
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
        if is_local:
            os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
            logging = folder / "log4j2.properties"
            logging.write_text(LOGGING, encoding="utf-8")
            flags = f"-Dlog4j2.configurationFile={logging.as_uri()} {settings.get('spark.driver.extraJavaOptions', '')}"
            all_settings["spark.driver.extraJavaOptions"] = flags.strip()
        try:
            yield all_settings
        finally:
            os.environ.clear()
            os.environ.update(before)
