"""Typed views of the arrays that callers pass in: any contiguous buffer of the right integers, else a TypeError."""

from libc.stdint cimport uint32_t, uint64_t


cdef inline const uint64_t[::1] hashes(object values, str caller):
    """Return `values` as a view of 64-bit unsigned integers; `caller` is the function that the error names."""
    if values is not None:  # Cython would accept None as a view
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"{caller}() expects an array of 64-bit unsigned integers (typecode 'Q'), got {kind(values)}")


cdef inline const uint32_t[::1] page_numbers(object values, str caller):
    """Return `values` as a view of 32-bit unsigned integers; `caller` as for hashes()."""
    if values is not None:
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"{caller}() expects an array of 32-bit unsigned integers (typecode 'I'), got {kind(values)}")


cdef inline str kind(object values):
    """Return the type of `values` as an error message names it."""
    typecode = getattr(values, "typecode", None)
    return type(values).__name__ if typecode is None else f"an array of typecode {typecode!r}"
