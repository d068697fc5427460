from cpython cimport array


cdef class CanonicalText:
    cdef readonly str text  # what it was made from
    cdef readonly str chars  # the canonical characters
    cdef readonly array.array words  # 'I': index in chars where each word starts
    cdef readonly bint consonants
    cdef array.array _offsets  # 'I', None until somebody asks
    cdef array.array _ends  # 'I', where in the text each ends; None if the rule of canonical_text() says it
