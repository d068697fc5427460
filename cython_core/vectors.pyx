"""Choice between vector loops and portable ones; the results are equal."""

cdef extern from "vectors.h":
    bint has_avx2()

avx2 = has_avx2()


def vector_path():
    """Return the code path in use, 'avx2' or 'portable'."""
    return "avx2" if avx2 else "portable"


def use_vectors(bint wanted):
    """Turn the vector loops off, or on again if the processor supports them, for tests and benchmarks."""
    global avx2
    avx2 = wanted and has_avx2()
