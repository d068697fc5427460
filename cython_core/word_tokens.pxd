from libc.stdint cimport uint32_t


cdef struct Tokens:
    # The words of a text, folded, one after the other in UTF-8: word i is bytes[ends[i - 1]:ends[i]].
    char* bytes
    size_t room
    uint32_t* ends
    uint32_t* first  # its offset in the text, and that behind its last character
    uint32_t* last
    Py_ssize_t slots
    Py_ssize_t count


cdef int tokenize(str text, Tokens* tokens) except -1
cdef void free_tokens(Tokens* tokens) noexcept
