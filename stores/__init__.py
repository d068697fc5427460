"""Keeps records: in one SQLite file, or in OpenSearch; and a local engine to try it with."""
