"""Runs the `winnow` command as `python -m opensearch_winnow`."""

from opensearch_winnow.cli import main

main(prog_name="winnow")
