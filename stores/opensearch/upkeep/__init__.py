"""Sets up stores on an engine, and moves them to new indices."""
