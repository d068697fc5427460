"""Compiled algorithms on characters and integers, without files, network or settings.

`reference*.py` compute the same in plain Python.
"""
