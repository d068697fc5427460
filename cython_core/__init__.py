"""The compiled core: characters and integers in, integers out. No files, no network, no settings.

`reference*.py` compute the same in plain Python.
"""
