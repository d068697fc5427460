"""Drafts of canonical text: characters are mapped, their marks put in canonical order, and composed.

docs/decisions/0003-canonical-text.md has the rule. Only marks with a combining class need reordering.
"""

from libc.stdint cimport int32_t, uint8_t, uint16_t, uint32_t
from libc.string cimport memcpy, memmove, memset

cdef extern from "unicode_tables.h" nogil:
    ctypedef struct Record "unicode_record":
        int32_t value  # added to the character gives the mapped one; with EXPANDS, an index in unicode_expansions
        uint8_t bits
        uint8_t first_class  # combining class of the first character of its decomposition
        uint8_t last_class  # of the last
    ctypedef struct Composition "unicode_composition":
        uint32_t composite
        uint32_t first
        uint32_t second
    enum: ALNUM, OWN_WORD, SEPARATOR, VOWEL, MARK, COMPOSES, EXPANDS  # explained in tools/unicode_tables.py
    enum: FOLDED_PAGES, FOLDED_IOTA  # for texts in which letters that look alike are one
    enum: PAGE_BITS, MAX_EXPANSION, SLOTS, SLOT_BITS, COMPOSITIONS
    const uint32_t HASH_FIRST, HASH_SECOND
    const uint16_t[1] unicode_page_of
    const uint16_t[1] unicode_record_of
    const Record[1] unicode_records
    const uint32_t[1] unicode_expansions
    const Composition[1] unicode_compositions
    const uint16_t[1] unicode_slots

cdef enum:
    COMBINING_IOTA = 0x345  # sorts last in canonical order; case folding then turns it into the letter iota
    IOTA = 0x3B9
    MAX_DECOMPOSITION = 4  # characters in the decomposition of a composite of canonical text
    MAX_CHARS_PER_CHAR = MAX_EXPANSION + 2 * MAX_DECOMPOSITION  # added to a draft at most by one character of the text

cdef struct Draft:
    # The latest canonical characters: those that the next characters can still change, and as many more as fit.
    uint32_t* chars
    uint32_t* offsets  # in the text, of each of chars
    uint32_t* words  # indices in the canonical text where words start
    uint32_t* spare  # scratch space of the same capacity
    Py_ssize_t capacity
    Py_ssize_t length
    Py_ssize_t word_count
    Py_ssize_t before  # canonical characters that have left the draft
    bint consonants
    const uint16_t* page_of  # unicode_page_of, or its part in which letters that look alike are one
    uint32_t iota  # the letter that a combining iota becomes
    bint word_ended  # the next letter starts a word
    bint attached  # a mark that follows now belongs to a kept character
    # The last base and its marks with a combining class; valid while no other character has followed.
    Py_ssize_t base
    Py_ssize_t marks_end  # length of chars after the last of these marks, or -1
    uint8_t last_class
    uint32_t marks_offset  # in the text, of the first of these marks
    bint disordered  # the marks are out of canonical order, and not composed until settle()
    bint unsettled  # disordered, or with a combining iota that is not a letter yet


cdef inline const uint16_t* pages_of(bint fold_confusables) noexcept nogil:
    return unicode_page_of + (FOLDED_PAGES if fold_confusables else 0)


cdef inline const Record* record_in(const uint16_t* page_of, uint32_t char) noexcept nogil:
    cdef Py_ssize_t page = page_of[char >> PAGE_BITS]
    return &unicode_records[unicode_record_of[(page << PAGE_BITS) | (char & ((1 << PAGE_BITS) - 1))]]


cdef inline const Record* record_of(uint32_t char) noexcept nogil:
    """Return the record of a character in texts that keep letters apart, or of a canonical character in any text."""
    return record_in(unicode_page_of, char)


cdef inline uint32_t composite_of(uint32_t first, uint32_t second) noexcept nogil:
    """Return the composite of two characters, or 0. Hangul is computed from 19 leads, 21 vowels, 27 finals or none."""
    if first - 0x1100 < 19 and second - 0x1161 < 21:
        return 0xAC00 + ((first - 0x1100) * 21 + (second - 0x1161)) * 28
    if first - 0xAC00 < 11172 and second - 0x11A8 < 27:
        return first + (second - 0x11A7) if (first - 0xAC00) % 28 == 0 else 0
    cdef uint32_t slot = (first * HASH_FIRST + second * HASH_SECOND) >> (32 - SLOT_BITS)
    cdef const Composition* entry
    while unicode_slots[slot]:
        entry = &unicode_compositions[unicode_slots[slot] - 1]
        if entry.first == first and entry.second == second:
            return entry.composite
        slot = (slot + 1) % SLOTS
    return 0


cdef inline Py_ssize_t decompose(uint32_t char, uint32_t* parts) noexcept nogil:
    """Write the canonical decomposition of `char`, not a Hangul syllable, to `parts` and return its length."""
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
    """Add a mark with a combining class: compose it with its base, or put it after the base's other marks."""
    cdef uint32_t composite
    if not draft.attached:
        if char == COMBINING_IOTA:
            if not draft.unsettled:
                draft.base = draft.length  # it is its own base
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
    """Return the composite of the base and `mark`, or 0. A mark of the same class right before it blocks it."""
    if end - 1 > draft.base and record_of(draft.chars[end - 1]).first_class == mark_class:
        return 0
    return composite_of(draft.chars[draft.base], mark)


cdef inline void settle(Draft* draft) noexcept nogil:
    """Put the marks of the last base in canonical order, compose them, and turn combining iotas into letters."""
    if draft.disordered:
        reorder(draft)
    cdef Py_ssize_t end = draft.length
    while draft.length > draft.base and draft.chars[draft.length - 1] == COMBINING_IOTA:
        draft.length -= 1
    while draft.length < end:
        put_letter(draft, draft.iota, draft.offsets[draft.length], False)
    draft.disordered = draft.unsettled = False
    draft.marks_end = -1


cdef inline void reorder(Draft* draft) noexcept nogil:
    """Sort the marks of the last base by combining class, stably, and compose them with the base.

    It is a counting sort, linear even for a text that has only marks. All these marks get the offset of the first.
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
    """Add a character that does not expand."""
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
    if bits & SEPARATOR:
        draft.word_ended = True
        draft.attached = False
    elif bits & VOWEL and draft.consonants:
        draft.attached = False
    elif draft.attached or not bits & MARK:
        if bits & COMPOSES and draft.length and (draft.length != draft.marks_end or draft.base == draft.length - 1):
            composite = composite_of(draft.chars[draft.length - 1], char)
            if composite:
                draft.chars[draft.length - 1] = composite
                draft.marks_end = -1
                if bits & ALNUM:  # possibly across dropped characters: then two words become one
                    draft.word_ended = False
                    draft.attached = True
                return
        if bits & MARK:
            put(draft, char, offset)
        else:
            put_letter(draft, char, offset, bits & OWN_WORD != 0)


cdef inline void put_char(Draft* draft, uint32_t char, uint32_t offset) noexcept nogil:
    """Add the next character of the text."""
    cdef const Record* record = record_in(draft.page_of, char)
    cdef const uint32_t* parts
    cdef uint32_t i
    if record.bits & EXPANDS:
        parts = unicode_expansions + record.value
        for i in range(1, parts[0] + 1):
            put_part(draft, parts[i], record_of(parts[i]), offset)
    else:
        put_part(draft, char, record, offset)


cdef inline Py_ssize_t settled_length(const Draft* draft) noexcept nogil:
    """Return the number of final characters in the draft: all before the last base."""
    if draft.unsettled or draft.length == draft.marks_end:
        return draft.base
    return draft.length - 1 if draft.length else 0


cdef inline void drop_first(Draft* draft, Py_ssize_t count) noexcept nogil:
    """Remove the first `count` characters and all words from the draft."""
    draft.length -= count
    draft.before += count
    draft.base -= count
    if draft.marks_end != -1:
        draft.marks_end -= count
    draft.word_count = 0
    memmove(draft.chars, draft.chars + count, draft.length * sizeof(uint32_t))
    memmove(draft.offsets, draft.offsets + count, draft.length * sizeof(uint32_t))
