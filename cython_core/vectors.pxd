cdef bint avx2  # whether the vector loops are in use
