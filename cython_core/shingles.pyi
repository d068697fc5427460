from array import array

from opensearch_winnow.cython_core.canonical_text import CanonicalText

def shingles(canonical: CanonicalText, width: int = 10, key: int = 0) -> array[int]: ...
