"""The settings of Spark in all tests: they start it fast, for tables of a few hundred rows."""

from __future__ import annotations

SMALL = {
    "spark.master": "local[2]",
    "spark.sql.shuffle.partitions": "3",
    # Generating code for such small tables takes longer than processing them.
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
