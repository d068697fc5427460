"""Characters and integers only: no files, no network, no settings. `reference.py` says the same in plain Python."""
