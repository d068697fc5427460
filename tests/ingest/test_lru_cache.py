from __future__ import annotations

from hypothesis import given, strategies as st

from opensearch_winnow.ingest.lru_cache import LruCache


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 40))), st.integers(0, 100))
def test_the_cached_sizes_never_exceed_the_limit(puts: list[tuple[int, int]], room: int) -> None:
    recent: LruCache[int] = LruCache(room)
    sizes: dict[int, int] = {}
    for key, size in puts:
        recent.put(key, key, size)
        sizes[key] = size
        kept = [key for key in sizes if recent.get(key) is not None]
        assert sum(sizes[key] for key in kept) <= room
        assert (recent.get(key) is not None) == (size <= room)


def test_the_least_recently_used_entry_is_dropped_first() -> None:
    recent: LruCache[str] = LruCache(2)
    recent.put("a", "A", 1)
    recent.put("b", "B", 1)
    recent.get("a")
    recent.put("c", "C", 1)
    assert [recent.get(key) for key in "abc"] == ["A", None, "C"]
