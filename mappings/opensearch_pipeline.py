"""The ingest pipeline: checks documents that other programs write, and derives the fields that can be derived.

It is the default pipeline of the index of pages. Documents that this package writes are complete and bypass it.
"""

from __future__ import annotations

from typing import Any

VERSION = 1
PIPELINE = f"winnow-{VERSION}"
NO_PIPELINE = "_none"  # bypasses the default pipeline of an index

# Fields that fingerprinting computes, and no script on the server can.
FINGERPRINTING_FIELDS = ("text_digest", "shingle_digest", "positions", "shingle_count", "minhash")
TOKENS = ("fingerprints", "sketch", "bands")

# The function returns a complaint, or null. A field passes it to the processor `fail`, the only one that puts a plain
# sentence into the result of an item; an exception of a script would be "runtime error" there.
CHECK = """
String wrong(def ctx, def params) {
  if (!(ctx.url instanceof String) || ctx.url.isEmpty()) { return 'a page has a url'; }
  if (ctx._id == null) { return 'a page needs an _id, the id of its capture, so that it is stored only once'; }
  for (name in params.made) {
    if (ctx[name] == null) { return 'it has no ' + name + ': merge all of winnow_fields(text) into the document'; }
  }
  for (name in params.tokens) {
    if (!(ctx[name] instanceof String)) { return name + ' is a text of hashes: merge all of winnow_fields(text)'; }
    for (token in ctx[name].splitOnToken(' ')) {
      if (token.length() != 11 && ctx[name] != '') {
        return name + ' has a hash that is not 11 characters of base64url: ' + token;
      }
    }
  }
  return null;
}
def reason = wrong(ctx, params);
if (reason != null) { ctx.winnow_refuses = reason; }
""".strip()

# Computes the site like Python's urlsplit(url).hostname, which `Record` uses.
SITE = """
String site(String url) {
  int slashes = url.indexOf('//');
  if (slashes < 0 || (slashes > 0 && url.charAt(slashes - 1) != (char) ':')) { return ''; }
  for (int i = 0; i < slashes - 1; i++) {
    char c = url.charAt(i);
    boolean letter = (c >= (char) 'a' && c <= (char) 'z') || (c >= (char) 'A' && c <= (char) 'Z');
    boolean later = (c >= (char) '0' && c <= (char) '9') || c == (char) '+' || c == (char) '-' || c == (char) '.';
    if (!letter && (i == 0 || !later)) { return ''; }
  }
  String host = url.substring(slashes + 2);
  for (end in ['/', '?', '#']) {
    int at = host.indexOf(end);
    if (at >= 0) { host = host.substring(0, at); }
  }
  host = host.substring(host.lastIndexOf('@') + 1);
  int close = host.indexOf(']');
  if (host.startsWith('[')) { return close < 0 ? '' : host.substring(1, close).toLowerCase(); }
  int port = host.indexOf(':');
  return (port < 0 ? host : host.substring(0, port)).toLowerCase();
}
if (ctx.site == null || ctx.site == '') { ctx.site = site(ctx.url); }
""".strip()

# Times are compared by fetched_us and shown by fetched_at. If one is written, the other is derived.
TIME = """
def micros(def time) {
  if (time instanceof Number) { return ((Number) time).longValue() * 1000L; }
  String text = time.toString();
  Instant at = null;
  try { at = ZonedDateTime.parse(text).toInstant(); } catch (Exception e) { at = null; }
  if (at == null) {
    try { at = LocalDateTime.parse(text).toInstant(ZoneOffset.UTC); } catch (Exception e) { at = null; }
  }
  if (at == null) {
    try { at = LocalDate.parse(text).atStartOfDay(ZoneOffset.UTC).toInstant(); } catch (Exception e) { at = null; }
  }
  return at == null ? null : (def) (at.getEpochSecond() * 1000000L + at.getNano() / 1000);
}
if (ctx.fetched_us == null && ctx.fetched_at != null) {
  def time = micros(ctx.fetched_at);
  if (time == null) { ctx.winnow_refuses = 'fetched_at is not a time such as 2024-05-06T12:00:00Z: ' + ctx.fetched_at; }
  else { ctx.fetched_us = time; }
} else if (ctx.fetched_us instanceof Number && ctx.fetched_at == null) {
  ctx.fetched_at = Instant.EPOCH.plus(((Number) ctx.fetched_us).longValue(), ChronoUnit.MICROS).toString();
}
""".strip()

# A later page has a higher arrival. Nanoseconds only tell pages of one millisecond apart; they are not from a clock.
DERIVED_FIELDS = """
ctx.fingerprint_count = new HashSet(Arrays.asList(ctx.fingerprints.splitOnToken(' '))).size();
if (ctx.fingerprints == '') { ctx.fingerprint_count = 0; }
ctx.url_length = ctx.url.codePointCount(0, ctx.url.length());
ctx.sketch_count = (ctx.sketch.length() + 1) / 12;
for (name in ['crawl', 'text', 'content_digest']) { if (ctx[name] == null) { ctx[name] = ''; } }
if (ctx.cluster == null || ctx.cluster == '') { ctx.cluster = ctx._id; }
if (ctx.latest == null) { ctx.latest = true; }
if (ctx.arrival == null) {
  long nanos = System.nanoTime() % 1000000L;
  ctx.arrival = System.currentTimeMillis() * 1000000L + (nanos < 0L ? nanos + 1000000L : nanos);
}
""".strip()


def pipeline() -> dict[str, Any]:
    """Return the body of `PUT _ingest/pipeline/winnow-1`."""
    refused = {
        "fail": {
            "if": "ctx.winnow_refuses != null",
            "message": f"{PIPELINE} refuses the document: {{{{{{winnow_refuses}}}}}}",
        }
    }
    return {
        "description": "Checks the pages of a winnow store, and derives counts, site, times, cluster and arrival.",
        "version": VERSION,
        "processors": [
            _script(CHECK, made=list(FINGERPRINTING_FIELDS), tokens=list(TOKENS)),
            refused,
            _script(TIME),
            refused,
            _script(SITE),
            _script(DERIVED_FIELDS),
        ],
    }


def _script(source: str, **params: Any) -> dict[str, Any]:
    return {"script": {"lang": "painless", "source": source, **({"params": params} if params else {})}}
