"""The same clusters on Spark, for crawls that are too large for one machine; and records from raw pages."""
