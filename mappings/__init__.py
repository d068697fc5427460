"""Describes records at rest: fields, columns, documents, tables and mappings. No I/O."""
