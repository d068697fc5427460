"""One Spark session for all tests, because starting it takes most of their time. All are in the group "spark"."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from opensearch_winnow.clusters.spark.session import spark_session
from tests.spark_settings import SMALL

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> SparkSession:
    """A session on a Java of the machine. The tests fail if Spark does not start."""
    return spark_session(SMALL)
