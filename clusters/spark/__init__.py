"""Clusters record files on Spark, for crawls too large for one machine, and makes record files from raw pages."""
