"""How Spark is started for tables of a few hundred rows, in all tests that start one."""

from __future__ import annotations

SMALL = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "3",
    # They are done before code for them is made.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
