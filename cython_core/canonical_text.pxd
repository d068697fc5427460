from cpython cimport array


cdef class CanonicalText:
    cdef readonly str text  # the original text
    cdef readonly str chars  # the canonical characters
    cdef readonly array.array words  # 'I': index in chars where each word starts
    cdef readonly bint consonants
    cdef readonly bint fold_confusables
    cdef array.array _offsets  # 'I'; None until `offsets` is first read
    cdef array.array _ends  # 'I': ends of the sources in the text; None if canonical_text() made it
