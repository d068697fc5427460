"""One Spark for all tests, since starting it is most of what they take: all are in the group "spark"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opensearch_winnow.clusters.spark.session import spark_session

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """On a Java of the machine. Where Spark cannot be started, the tests fail."""
    return spark_session(
        {
            "spark.master": "local[2]",
            "spark.sql.shuffle.partitions": "3",
            # Tables of a hundred rows are done before code for them is made.
            "spark.sql.codegen.wholeStage": "false",
            "spark.sql.codegen.factoryMode": "NO_CODEGEN",
            "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
        }
    )
