"""The visible text, the title and the canonical link of a page, from the events of an HTML parser."""

cimport cython
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, realloc
from libc.string cimport memcpy, memset

cdef extern from "Python.h":
    bint PyUnicode_IS_ASCII(object text)
    int PyUnicode_KIND(object text)
    void* PyUnicode_DATA(object text)
    object PyUnicode_DecodeUTF8(const char* text, Py_ssize_t size, const char* errors)

cdef enum:
    # Names that are not in the table are INLINE, also custom elements, because browsers draw them inline. In 973 pages
    # with 453 kinds of custom elements, none stood between two letters.
    INLINE, LINE, WORD, LINK, VERBATIM, SKIPPED, TITLE, NOFRAMES, SVG, SVG_ONLY, IMAGE, HEAD_LINK, BASE
    SLOTS = 256  # of the hash table, for about 100 names
    MAX_NAME_BYTES = 16
    MAX_REUSED_BYTES = 1 << 20  # memory that an instance reuses for the next page

# tests/cython_core/reference_visible_text.py has the same table, with the reasons.
NAMES = {
    LINE: "address article aside blockquote body br caption center dd details dialog dir div dl dt fieldset figcaption"
          " figure footer form frameset h1 h2 h3 h4 h5 h6 head header hgroup hr html isindex legend li main marquee"
          " menu multicol nav ol optgroup option p search section select summary table tbody tfoot thead tr ul",
    WORD: "audio button canvas embed label meter noscript object progress td template text th tspan video",
    LINK: "a",
    VERBATIM: "listing plaintext pre textarea xmp",
    SKIPPED: "annotation annotation-xml iframe noembed script style",
    TITLE: "title",
    NOFRAMES: "noframes",
    SVG: "svg",
    SVG_ONLY: "desc metadata",
    IMAGE: "area image img input",
    HEAD_LINK: "link",
    BASE: "base",
}

cdef struct Name:
    uint64_t low, high  # its bytes, padded with zeros

cdef struct Entry:
    Name name
    uint8_t kind

cdef Entry[SLOTS] ENTRIES
memset(ENTRIES, 0, sizeof(ENTRIES))

cdef enum:
    PLAIN, SPACE, HARD_SPACE, DROPPED

# The class of every character below U+00A1. Control characters are dropped, because XML and some stores reject them,
# except those that str.split() treats as white space. Repeated U+00A0 do not collapse.
cdef uint8_t[0xA1] CLASSES
for _code in range(0xA1):
    if chr(_code) == "\xa0":
        CLASSES[_code] = HARD_SPACE
    elif chr(_code).isspace():
        CLASSES[_code] = SPACE
    else:
        CLASSES[_code] = DROPPED if _code < 0x20 or 0x7F <= _code <= 0x9F else PLAIN

ctypedef fused Char:
    uint8_t
    uint16_t
    uint32_t

cdef struct Draft:
    uint8_t* bytes  # UTF-8
    Py_ssize_t length, capacity
    Py_ssize_t end  # index after the last character that is not white space
    # Pending separators, written when a character follows: a line takes precedence over spaces, and spaces over a word.
    bint line, word
    Py_ssize_t spaces
    bint collapses  # whether a space that follows collapses with the last one


@cython.final
cdef class VisibleText:
    """Collects the text of a page from parser events, with tag names in lower case; close() returns it.

    Blocks are on separate lines; table cells, form fields, pictures and adjacent links are separate words. Inside a
    line white space collapses, except in `pre` and similar elements. Text that scripts could show counts, hidden or
    not. With `alt` the alternative texts of pictures count too.

    Events need not be balanced, and elements may be nested to any depth. Memory: at most twice the bytes of the text in
    UTF-8. An instance handles one page at a time and can be reused after close().
    """

    cdef readonly Py_ssize_t depth  # of open elements
    cdef Draft page, title
    cdef list noframes
    cdef object canonical, base  # str, or None until one is found
    cdef bint alt, after_link
    cdef Py_ssize_t verbatim, svg  # the number of these elements that are open
    cdef int inside  # the kind of an open element whose content is not text of the page; otherwise INLINE
    cdef Name inside_name
    cdef Py_ssize_t inside_depth  # nested elements of this name

    def __cinit__(self, *, bint alt=False):
        self.alt = alt
        self._clear()

    def __dealloc__(self):
        free(self.page.bytes)
        free(self.title.bytes)

    def start(self, str tag not None, attrib):
        cdef Name name = name_of(tag)
        self.depth += 1
        if self.inside:
            self.inside_depth += same(&name, &self.inside_name)
            return
        cdef int kind = kind_of(&name)
        if kind == INLINE:
            return
        elif kind == LINE:
            new_line(&self.page)
        elif kind == WORD:
            self.page.word = True
        elif kind == LINK:
            self.page.word |= self.after_link
        elif kind == VERBATIM:
            new_line(&self.page)
            self.verbatim += 1
        elif kind == IMAGE:
            self._image(tag, attrib)
        elif kind == SVG:
            self.page.word = True
            self.svg += 1
        elif kind == SKIPPED:
            self._enter(SKIPPED, name)
        elif kind == SVG_ONLY:
            if self.svg:
                self._enter(SKIPPED, name)
        elif kind == HEAD_LINK:
            if self.canonical is None and "canonical" in (attrib.get("rel") or "").lower().split():
                self.canonical = attrib.get("href")
        elif kind == BASE:
            if self.base is None:
                self.base = attrib.get("href")
        else:  # TITLE, NOFRAMES
            new_line(&self.page)
            self._enter(SKIPPED if kind == TITLE and (self.svg or self.title.end) else kind, name)

    def end(self, str tag not None):
        cdef Name name = name_of(tag)
        self.depth -= self.depth > 0
        if self.inside:
            self.inside_depth -= same(&name, &self.inside_name)
            if not self.inside_depth:
                self.inside = INLINE
            return
        cdef int kind = kind_of(&name)
        if kind == LINE or kind == TITLE or kind == NOFRAMES:
            new_line(&self.page)
        elif kind == WORD or kind == IMAGE:
            self.page.word = True
        elif kind == LINK:
            self.after_link = True
        elif kind == VERBATIM:
            new_line(&self.page)
            self.verbatim -= self.verbatim > 0
        elif kind == SVG:
            self.page.word = True
            self.svg -= self.svg > 0

    def data(self, str text not None):
        cdef Py_ssize_t end
        if not self.inside:
            end = self.page.end
            write(&self.page, text, self.verbatim > 0)
            self.after_link &= self.page.end == end
        elif self.inside == TITLE:
            write(&self.title, text, False)
        elif self.inside == NOFRAMES:
            self.noframes.append(text)

    def close(self) -> tuple[str, str, str, str, str]:
        """Return the text, the title, the content of `noframes`, which is markup that parsers do not parse, and the
        addresses in the first `<link rel="canonical">` and `<base>` that have one, as they are written."""
        try:
            noframes = "".join(self.noframes).strip()
            return decode(&self.page), decode(&self.title), noframes, self.canonical or "", self.base or ""
        finally:
            self._clear()

    cdef int _enter(self, int kind, Name name) except -1:
        self.inside = kind
        self.inside_name = name
        self.inside_depth = 1
        if kind == NOFRAMES:
            self.noframes.append("\n")

    cdef int _image(self, str tag, attrib) except -1:
        self.page.word = True
        if self.alt and (tag != "input" or (attrib.get("type") or "").lower() == "image"):
            self.data(attrib.get("alt") or "")
            self.page.word = True

    cdef int _clear(self) except -1:
        clear(&self.page)
        clear(&self.title)
        self.noframes = []
        self.canonical = self.base = None
        self.after_link = False
        self.depth = self.verbatim = self.svg = self.inside_depth = 0
        self.inside = INLINE


# --- names ------------------------------------------------------------------------------------------------------------


cdef inline Name name_of(str tag):
    """Return the name as two numbers, 0 if it is too long for the table: faster than a dict of new strings."""
    cdef Name name = Name(0, 0)
    cdef Py_ssize_t length = len(tag)
    if length <= MAX_NAME_BYTES and PyUnicode_IS_ASCII(tag):
        memcpy(&name, PyUnicode_DATA(tag), length)
    return name


cdef inline bint same(const Name* a, const Name* b) noexcept nogil:
    return a.low == b.low and a.high == b.high


cdef inline uint32_t slot_of(const Name* name) noexcept nogil:
    return <uint32_t>((name.low ^ name.high * <uint64_t>0x9E3779B97F4A7C15) * <uint64_t>0xD1B54A32D192ED03 >> 56)


cdef inline int kind_of(const Name* name) noexcept nogil:
    cdef uint32_t slot = slot_of(name)
    while ENTRIES[slot].kind and not same(name, &ENTRIES[slot].name):
        slot = (slot + 1) % SLOTS
    return ENTRIES[slot].kind


cdef int fill_names() except -1:
    cdef Name name
    cdef uint32_t slot
    for kind, tags in NAMES.items():
        for tag in tags.split():
            name = name_of(tag)
            slot = slot_of(&name)
            while ENTRIES[slot].kind:
                slot = (slot + 1) % SLOTS
            ENTRIES[slot].name = name
            ENTRIES[slot].kind = kind
    return 0


fill_names()


# --- drafts -----------------------------------------------------------------------------------------------------------


cdef inline void new_line(Draft* draft) noexcept nogil:
    draft.length = draft.end  # removes spaces already written at the end of `pre`
    draft.line = True
    draft.word = False
    draft.spaces = 0
    draft.collapses = False


cdef void clear(Draft* draft) noexcept nogil:
    draft.length = draft.end = 0
    new_line(draft)
    if draft.capacity > MAX_REUSED_BYTES:
        free(draft.bytes)
        draft.bytes = NULL
        draft.capacity = 0


cdef str decode(const Draft* draft):
    return PyUnicode_DecodeUTF8(<const char*>draft.bytes, draft.end, "surrogatepass") if draft.end else ""


cdef int write(Draft* draft, str text, bint verbatim) except -1:
    cdef Py_ssize_t count = len(text)
    cdef int width = PyUnicode_KIND(text)
    cdef const void* chars = PyUnicode_DATA(text)
    if PyUnicode_IS_ASCII(text):
        reserve(draft, count)
        put(draft, <const uint8_t*>chars, count, verbatim)
    elif width == 1:
        reserve(draft, 2 * count)
        put(draft, <const uint8_t*>chars, count, verbatim)
    elif width == 2:
        reserve(draft, 3 * count)
        put(draft, <const uint16_t*>chars, count, verbatim)
    else:
        reserve(draft, 4 * count)
        put(draft, <const uint32_t*>chars, count, verbatim)
    return 0


cdef inline int reserve(Draft* draft, Py_ssize_t size) except -1:
    cdef Py_ssize_t wanted = draft.length + draft.spaces + size + 1  # + 1: a line break or a space before it
    cdef void* larger
    if wanted > draft.capacity:
        wanted = max(wanted, draft.capacity + (draft.capacity >> 1), <Py_ssize_t>4096)
        larger = realloc(draft.bytes, wanted)
        if larger == NULL:
            raise MemoryError(f"VisibleText could not get {wanted} bytes")
        draft.bytes = <uint8_t*>larger
        draft.capacity = wanted
    return 0


cdef void put(Draft* draft, const Char* chars, Py_ssize_t count, bint verbatim) noexcept nogil:
    """Write the characters. The caller has reserved space for them, for pending spaces, and for one byte more."""
    cdef uint8_t* out = draft.bytes + draft.length
    cdef Py_ssize_t i = 0
    cdef uint32_t c
    cdef int char_class
    while i < count:
        c = chars[i]
        i += 1
        char_class = CLASSES[c] if c <= 0xA0 else PLAIN
        if char_class == PLAIN:
            out = put_gap(draft, out)
            out = put_char(out, c)
            while i < count and 0x21 <= chars[i] <= 0x7E:
                out[0] = <uint8_t>chars[i]
                out += 1
                i += 1
            draft.end = out - draft.bytes
        elif char_class == DROPPED:
            pass
        elif verbatim:
            if c == c"\r":
                c = c"\n"
            elif c != c"\n" and c != c"\t":
                c = c" "
            if not draft.line or c != c"\n":
                draft.word = False
                out = put_gap(draft, out)
                out[0] = <uint8_t>c
                out += 1
        elif char_class == HARD_SPACE:
            draft.spaces += 1
            draft.collapses = False
        elif not draft.collapses:
            draft.spaces += 1
            draft.collapses = True
    draft.length = out - draft.bytes


cdef inline uint8_t* put_gap(Draft* draft, uint8_t* out) noexcept nogil:
    """Write the pending separator before the next character."""
    cdef Py_ssize_t i
    if draft.line:
        if draft.end:
            out[0] = c"\n"
            out += 1
        draft.line = False
    elif draft.spaces:
        for i in range(draft.spaces):
            out[i] = c" "
        out += draft.spaces
    elif draft.word and draft.end == out - draft.bytes:
        out[0] = c" "
        out += 1
    draft.word = False
    draft.spaces = 0
    draft.collapses = False
    return out


cdef inline uint8_t* put_char(uint8_t* out, uint32_t c) noexcept nogil:
    if c < 0x80:
        out[0] = <uint8_t>c
        return out + 1
    if c < 0x800:
        out[0] = <uint8_t>(0xC0 | c >> 6)
        out[1] = <uint8_t>(0x80 | c & 0x3F)
        return out + 2
    if c < 0x10000:
        out[0] = <uint8_t>(0xE0 | c >> 12)
        out[1] = <uint8_t>(0x80 | c >> 6 & 0x3F)
        out[2] = <uint8_t>(0x80 | c & 0x3F)
        return out + 3
    out[0] = <uint8_t>(0xF0 | c >> 18)
    out[1] = <uint8_t>(0x80 | c >> 12 & 0x3F)
    out[2] = <uint8_t>(0x80 | c >> 6 & 0x3F)
    out[3] = <uint8_t>(0x80 | c & 0x3F)
    return out + 4
