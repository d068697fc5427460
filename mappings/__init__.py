"""The layout of a record in every format, without I/O: fields, columns, documents, tables, mappings."""
