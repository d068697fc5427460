"""One Spark for all tests, since starting it is most of what they take: all are in the group "spark"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opensearch_winnow.clusters.spark.session import spark_session
from tests.spark_settings import SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """On a Java of the machine. Where Spark cannot be started, the tests fail."""
    return spark_session(SMALL)
