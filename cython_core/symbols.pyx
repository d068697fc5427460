"""The symbols of a text that change its meaning, though its letters and digits stay the same: operators and signs.

Counted are
- a run of operators between two operands, with white space on both sides or on neither: x + 1, a<b, n != 0;
  a single dash only beside a digit, because words have hyphens; not after a line break, where lists have bullets;
- a sign directly before what it changes: -5, ~5, !done;
- . , and : between two digits, and a unit beside a digit: 1.5, 12:30, $5, 5 %, 5°;
- ++ and # after a letter, and digits above or below the line: C++, C#, x².
All dashes count as the same, and so do characters of full width and their usual forms. Texts are in NFC: a letter with
a separate mark would not be an operand.
"""

from cpython.unicode cimport PyUnicode_DATA, PyUnicode_KIND
from libc.stdint cimport uint32_t, uint64_t

from opensearch_winnow.cython_core.hashing cimport mix

cdef extern from "Python.h" nogil:  # these macros need no GIL, whatever cpython.unicode says
    Py_UCS4 PyUnicode_READ(int kind, void* data, Py_ssize_t index)
    bint Py_UNICODE_ISALNUM(Py_UCS4 char)

cdef enum:
    PLAIN, OPERATOR, DASH, SEPARATOR, UNIT, SHARP, RAISED  # kinds of characters


cdef unsigned char[128] ASCII_KINDS
ASCII_KINDS[:] = [PLAIN] * 128
for _chars, _kind in (("+*/\\<>=^&|~!%", OPERATOR), ("-", DASH), (".,:", SEPARATOR), ("$", UNIT), ("#", SHARP)):
    for _char in _chars:
        ASCII_KINDS[ord(_char)] = _kind


cdef struct Chars:
    int kind
    void* data
    Py_ssize_t size


cdef inline Py_UCS4 at(const Chars* text, Py_ssize_t place) noexcept nogil:
    """Return the character at `place`, in its usual form if it has full width; a line break outside the text."""
    cdef Py_UCS4 char
    if place < 0 or place >= text.size:
        return u"\n"
    char = PyUnicode_READ(text.kind, text.data, place)
    return <Py_UCS4>(<uint32_t>char - 0xFEE0) if 0xFF01 <= char <= 0xFF5E else char


cdef inline int kind_of(Py_UCS4 char) noexcept nogil:
    if char < 0x80:
        return ASCII_KINDS[char]
    if 0x2010 <= char <= 0x2015 or char == 0x2212:
        return DASH
    if 0x2190 <= char <= 0x22FF or char in u"¬±×÷":
        return OPERATOR
    if char in u"€£¥‰°":
        return UNIT
    return RAISED if char in u"²³¹" or 0x2070 <= char <= 0x2089 else PLAIN


cdef inline bint is_digit(Py_UCS4 char) noexcept nogil:
    return u"0" <= char <= u"9"


cdef inline bint is_blank(Py_UCS4 char) noexcept nogil:
    return char == u" " or char == u"\t" or char == 0xA0 or 0x2000 <= char <= 0x200A or char == 0x202F or char == 0x3000


cdef inline bint is_word(Py_UCS4 char) noexcept nogil:
    return Py_UNICODE_ISALNUM(char) or char == u"_"


cdef bint is_counted(const Chars* text, Py_ssize_t start, Py_ssize_t end, int kind) noexcept nogil:
    """Return whether the run from `start` to `end`, all of one kind or of operators and dashes, is counted."""
    cdef Py_UCS4 before = at(text, start - 1), after = at(text, end), left, right
    cdef Py_ssize_t i = start - 1, j = end
    if kind == RAISED:
        return True
    if kind == SHARP:
        return is_word(before) and not is_digit(before)
    if kind == SEPARATOR:
        return end - start == 1 and is_digit(before) and is_digit(after)
    while is_blank(at(text, i)):
        i -= 1
    while is_blank(at(text, j)) or (at(text, j) in u"\r\n" and j < text.size):
        j += 1
    left, right = at(text, i), at(text, j)
    if kind == UNIT or (end - start == 1 and at(text, start) == u"%"):
        if (is_digit(left) and start - i <= 2) or (is_digit(right) and j - end <= 1 and kind == UNIT):
            return True
    if kind == UNIT:
        return False
    if end - start == 2 and at(text, start) == u"+" and at(text, start + 1) == u"+" and is_word(before):
        return True
    if (is_word(left) or left in u")]}\"'") and (is_word(right) or right in u"([{\"'-!~.$") \
            and (i < start - 1) == (j > end):
        return end - start > 1 or kind != DASH or is_digit(left) or is_digit(right)
    if end - start > 1 or is_word(before) or before in u")]}\"'" or before in u".,:;-":
        return False
    return (kind == DASH and is_digit(after)) or (at(text, start) in u"~!¬" and (is_word(after) or after == u"("))


cdef Py_ssize_t next_symbol(const Chars* text, Py_ssize_t place, Py_ssize_t* end) noexcept nogil:
    """Return the start of the next counted run from `place` on, and set its `end`; -1 if there is none."""
    cdef int kind, other
    while place < text.size:
        kind = kind_of(at(text, place))
        if kind == PLAIN:
            place += 1
            continue
        end[0] = place + 1
        while kind == OPERATOR or kind == DASH or kind == SEPARATOR:
            other = kind_of(at(text, end[0]))
            if (kind == SEPARATOR) != (other == SEPARATOR) or other == PLAIN or other > SEPARATOR:
                break
            end[0] += 1
        if is_counted(text, place, end[0], kind):
            return place
        place = end[0]
    return -1


cdef inline Chars chars_of(str text):
    return Chars(PyUnicode_KIND(text), PyUnicode_DATA(text), len(text))


def symbols_hash(str text not None) -> int:
    """Return a hash of the symbols of `text` in their order; 0 if there are none. Other characters do not change it."""
    cdef Chars chars = chars_of(text)
    cdef Py_ssize_t place = 0, end = 0
    cdef uint64_t result = 0
    cdef Py_UCS4 char
    with nogil:
        while True:
            place = next_symbol(&chars, place, &end)
            if place < 0:
                break
            while place < end:
                char = at(&chars, place)
                if kind_of(char) == DASH:
                    char = u"-"
                result = mix(result + <uint64_t>char + 1)
                place += 1
            result = mix(result)  # x < y = z has other symbols than x <= y z
    return result


def symbol_places(str text not None) -> list[tuple[int, int]]:
    """Return the runs of symbols of `text` that are counted, as (start, end)."""
    cdef Chars chars = chars_of(text)
    cdef Py_ssize_t place = 0, end = 0
    cdef list places = []
    while True:
        place = next_symbol(&chars, place, &end)
        if place < 0:
            return places
        places.append((place, end))
        place = end
