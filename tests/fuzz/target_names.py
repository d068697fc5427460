"""The names of all targets, without importing what they call."""

CORE = (
    *("canonical_text", "word_tokens", "fingerprints", "shingles", "passages", "phrase_offsets", "visible_text"),
    *("word_runs", "symbols"),
    *("word_index", "find_word", "document_frequencies", "merged_segments", "boolean_scorer", "minhashes"),
    *("from_parts", "rare_grams", "window_minima", "hash_sets", "postings", "packed", "pairs", "repeated"),
)
FILES = ("html", "encoding", "http_body", "query", "warc", "arc", "wacz", "zip", "jsonl", "csv", "parquet", "store")
GATEWAY = ("bulk", "msearch", "search", "filter_path", "routes", "headers", "gzip")
