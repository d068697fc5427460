"""The compiled core: characters and integers in, integers out. No files, no network, no settings.

`tests/cython_core/reference.py` computes the same in plain Python.
"""
