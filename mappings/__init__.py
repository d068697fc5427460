"""What is stored for a page, in every format, without I/O: fields, columns, documents, tables, mappings."""
