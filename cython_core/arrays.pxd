"""Arrays at the door of the core: any contiguous buffer of the right integers, or a TypeError that says what came."""

from libc.stdint cimport uint32_t, uint64_t


cdef inline const uint64_t[::1] hashes(object values, str caller):
    """A view of 64-bit unsigned integers; `caller` is who wants it."""
    if values is not None:  # which Cython would take for a view
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"{caller}() wants an array of 64-bit unsigned integers (typecode 'Q'), got {kind(values)}")


cdef inline const uint32_t[::1] page_numbers(object values, str caller):
    """A view of 32-bit unsigned integers."""
    if values is not None:
        try:
            return values
        except (TypeError, ValueError, BufferError):
            pass
    raise TypeError(f"{caller}() wants an array of 32-bit unsigned integers (typecode 'I'), got {kind(values)}")


cdef inline str kind(object values):
    typecode = getattr(values, "typecode", None)
    return type(values).__name__ if typecode is None else f"an array of typecode {typecode!r}"
