"""Canonical characters while they are made: mapped, their marks in order, composed.

docs/decisions/0003-canonical-text.md has the rule. Marks with a combining class are the work, all else goes straight
in.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memmove, memset

cdef extern from "unicode_tables.h" nogil:
    ctypedef struct Record "unicode_record":
        int32_t value  # what leads to the mapped character, or a place in expansions
        uint8_t bits
        uint8_t first_class  # combining class of the first character of its decomposition
        uint8_t last_class
    ctypedef struct Composition "unicode_composition":
        uint32_t composite
        uint32_t first
        uint32_t second
    enum: KEPT, ALONE, SEPARATES, VOWEL, MARK, JOINS, EXPANDS  # what each means: tools/unicode_tables.py
    enum: PAGE_BITS, LONGEST_EXPANSION, SLOTS, SLOT_BITS, COMPOSITIONS
    const uint32_t HASH_FIRST, HASH_SECOND
    const uint16_t[1] unicode_page_of
    const uint16_t[1] unicode_record_of
    const Record[1] unicode_records
    const uint32_t[1] unicode_expansions
    const Composition[1] unicode_compositions
    const uint16_t[1] unicode_slots

cdef enum:
    COMBINING_IOTA = 0x345  # last in canonical order, and then case folding makes it the letter iota
    IOTA = 0x3B9
    LONGEST_DECOMPOSITION = 4  # of a composite of canonical text
    ROOM = LONGEST_EXPANSION + 2 * LONGEST_DECOMPOSITION  # what one character of the text may need in a draft

cdef struct Draft:
    # The latest canonical characters: those that what comes next can still change, and as many more as fit.
    uint32_t* chars
    uint32_t* offsets  # in the text, of each
    uint32_t* words  # where words start in the canonical text
    uint32_t* spare  # as long as chars
    Py_ssize_t capacity
    Py_ssize_t length
    Py_ssize_t word_count
    Py_ssize_t before  # canonical characters that have left the draft
    bint consonants
    bint word_ended  # the next letter starts a word
    bint attached  # a mark that comes now belongs to a kept character
    # The last base and its marks that have a combining class; as long as nothing else has come after them.
    Py_ssize_t base
    Py_ssize_t marks_end  # the length of chars after the last of these marks, or -1
    uint8_t last_class
    uint32_t marks_offset  # in the text, of the first of them
    bint disordered  # they are not in canonical order, and not composed, until they are settled
    bint unsettled  # disordered, or with a combining iota that is not yet a letter


cdef inline const Record* record_of(uint32_t char) noexcept nogil:
    cdef Py_ssize_t page = unicode_page_of[char >> PAGE_BITS]
    return &unicode_records[unicode_record_of[(page << PAGE_BITS) | (char & ((1 << PAGE_BITS) - 1))]]


cdef inline uint32_t composed(uint32_t first, uint32_t second) noexcept nogil:
    """The composite of two characters, or 0. Hangul: 19 leads, 21 vowels, 27 finals, laid out as a product."""
    if first - 0x1100 < 19 and second - 0x1161 < 21:
        return 0xAC00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28
    if first - 0xAC00 < 11172 and second - 0x11A8 < 27:
        return first + (second - 0x11A7) if (first - 0xAC00) % 28 == 0 else 0
    cdef uint32_t slot = (first * HASH_FIRST + second * HASH_SECOND) >> (32 - SLOT_BITS)
    cdef const Composition* found
    while unicode_slots[slot]:
        found = &unicode_compositions[unicode_slots[slot] - 1]
        if found.first == first and found.second == second:
            return found.composite
        slot = (slot + 1) % SLOTS
    return 0


cdef inline Py_ssize_t decompose(uint32_t char, uint32_t* parts) noexcept nogil:
    """Write the parts of a character other than a Hangul syllable; how many."""
    cdef Py_ssize_t low, high, middle, count = 0, i
    cdef bint is_composite = True
    while is_composite:
        low, high = 0, COMPOSITIONS - 1
        while low < high:
            middle = (low + high) // 2
            if unicode_compositions[middle].composite < char:
                low = middle + 1
            else:
                high = middle
        is_composite = unicode_compositions[low].composite == char
        parts[count] = unicode_compositions[low].second if is_composite else char
        char = unicode_compositions[low].first
        count += 1
    for i in range(count // 2):
        parts[i], parts[count - 1 - i] = parts[count - 1 - i], parts[i]
    return count


cdef inline void put(Draft* draft, uint32_t char, uint32_t offset) noexcept nogil:
    draft.chars[draft.length] = char
    draft.offsets[draft.length] = offset
    draft.length += 1


cdef inline void put_letter(Draft* draft, uint32_t char, uint32_t offset, bint alone) noexcept nogil:
    if draft.word_ended or alone:
        draft.words[draft.word_count] = <uint32_t>(draft.before + draft.length)
        draft.word_count += 1
    draft.word_ended = alone
    draft.attached = True
    put(draft, char, offset)


cdef inline void put_mark(Draft* draft, uint32_t char, uint8_t mark_class, uint32_t offset) noexcept nogil:
    """Take a mark that has a combining class: compose it with its base, or put it after the base's other marks."""
    cdef uint32_t composite
    if not draft.attached:
        if char == COMBINING_IOTA:
            if not draft.unsettled:
                draft.base = draft.length  # it stands for itself
                draft.unsettled = True
            put(draft, char, offset)
        return
    if draft.length != draft.marks_end:
        draft.base = draft.length - 1
        draft.last_class = record_of(draft.chars[draft.base]).last_class
        draft.marks_offset = draft.offsets[draft.base] if draft.last_class else offset
    if mark_class < draft.last_class:
        draft.disordered = draft.unsettled = True
    draft.last_class = mark_class
    if draft.disordered or char == COMBINING_IOTA:
        draft.unsettled = True
        put(draft, char, offset)
    else:
        composite = unblocked_composite(draft, draft.length, char, mark_class)
        if composite:
            draft.chars[draft.base] = composite
        else:
            put(draft, char, offset)
    draft.marks_end = draft.length


cdef inline uint32_t unblocked_composite(
    const Draft* draft, Py_ssize_t end, uint32_t mark, uint8_t mark_class
) noexcept nogil:
    """The composite of the base and a mark, or 0; a mark of the same class right before it is in the way."""
    if end - 1 > draft.base and record_of(draft.chars[end - 1]).first_class == mark_class:
        return 0
    return composed(draft.chars[draft.base], mark)


cdef inline void settle(Draft* draft) noexcept nogil:
    """Bring the marks of the last base in order, compose them, and make letters of combining iotas."""
    if draft.disordered:
        reorder(draft)
    cdef Py_ssize_t end = draft.length
    while draft.length > draft.base and draft.chars[draft.length - 1] == COMBINING_IOTA:
        draft.length -= 1
    while draft.length < end:
        put_letter(draft, IOTA, draft.offsets[draft.length], False)
    draft.disordered = draft.unsettled = False
    draft.marks_end = -1


cdef inline void reorder(Draft* draft) noexcept nogil:
    """Sort the marks of the last base by combining class, stably, and compose them with it.

    A counting sort: a text may be nothing but marks. All of these marks get the offset of the first.
    """
    cdef uint32_t[257] places
    cdef uint32_t* sorted_parts = draft.chars + draft.base
    cdef uint32_t composite, part
    cdef uint8_t part_class
    cdef Py_ssize_t i, count = decompose(draft.chars[draft.base], draft.spare)
    memcpy(draft.spare + count, sorted_parts + 1, (draft.length - draft.base - 1) * sizeof(uint32_t))
    count += draft.length - draft.base - 1
    memset(places, 0, sizeof(places))
    for i in range(count):
        places[record_of(draft.spare[i]).first_class + 1] += 1
    for i in range(256):
        places[i + 1] += places[i]
    for i in range(count):
        part_class = record_of(draft.spare[i]).first_class
        sorted_parts[places[part_class]] = draft.spare[i]
        places[part_class] += 1
    draft.length = draft.base + 1
    for i in range(1, count):
        part = sorted_parts[i]
        composite = unblocked_composite(draft, draft.length, part, record_of(part).first_class)
        if composite:
            draft.chars[draft.base] = composite
        else:
            put(draft, part, draft.marks_offset)


cdef inline void put_part(Draft* draft, uint32_t char, const Record* record, uint32_t offset) noexcept nogil:
    """Take a character that does not expand."""
    cdef uint8_t bits = record.bits
    cdef uint32_t composite
    if bits == 0:
        return
    char += record.value
    if record.first_class:
        put_mark(draft, char, record.first_class, offset)
        return
    if draft.unsettled:
        settle(draft)
    if bits & SEPARATES:
        draft.word_ended = True
        draft.attached = False
    elif bits & VOWEL and draft.consonants:
        draft.attached = False
    elif draft.attached or not bits & MARK:
        if bits & JOINS and draft.length and (draft.length != draft.marks_end or draft.base == draft.length - 1):
            composite = composed(draft.chars[draft.length - 1], char)
            if composite:
                draft.chars[draft.length - 1] = composite
                draft.marks_end = -1
                if bits & KEPT:  # across what was dropped, maybe: then two words become one
                    draft.word_ended = False
                    draft.attached = True
                return
        if bits & MARK:
            put(draft, char, offset)
        else:
            put_letter(draft, char, offset, bits & ALONE != 0)


cdef inline void put_char(Draft* draft, uint32_t char, uint32_t offset) noexcept nogil:
    """Take the next character of the text."""
    cdef const Record* record = record_of(char)
    cdef const uint32_t* parts
    cdef uint32_t i
    if record.bits & EXPANDS:
        parts = unicode_expansions + record.value
        for i in range(1, parts[0] + 1):
            put_part(draft, parts[i], record_of(parts[i]), offset)
    else:
        put_part(draft, char, record, offset)


cdef inline Py_ssize_t settled_length(const Draft* draft) noexcept nogil:
    """How many characters of the draft nothing can change any more: all before the last base."""
    if draft.unsettled or draft.length == draft.marks_end:
        return draft.base
    return draft.length - 1 if draft.length else 0


cdef inline void forget(Draft* draft, Py_ssize_t count) noexcept nogil:
    """Let the first characters and all words leave the draft."""
    draft.length -= count
    draft.before += count
    draft.base -= count
    if draft.marks_end != -1:
        draft.marks_end -= count
    draft.word_count = 0
    memmove(draft.chars, draft.chars + count, draft.length * sizeof(uint32_t))
    memmove(draft.offsets, draft.offsets + count, draft.length * sizeof(uint32_t))
