from libc.stdint cimport uint32_t


cdef struct Tokens:
    # The folded words of a text, joined, in UTF-8: word i is bytes[ends[i - 1]:ends[i]].
    char* bytes
    size_t capacity  # of bytes
    uint32_t* ends
    uint32_t* first  # offset of each word in the text
    uint32_t* last  # offset after its last character
    Py_ssize_t slots  # capacity of ends, first and last
    Py_ssize_t count  # of words


cdef int tokenize(str text, Tokens* tokens) except -1
cdef void free_tokens(Tokens* tokens) noexcept
