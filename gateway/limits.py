"""The limits of a gateway: of one request, of all requests together, and of the time that clients may take.

Nothing here refuses a document. Writes beyond a limit pass without fields, and only grouped searches are refused.
"""

from __future__ import annotations

import resource
from dataclasses import dataclass

MB = 1024 * 1024
MAX_BODY = 100 * MB  # as engines have it by default (http.max_content_length)
MIN_MEMORY = 1_000 * MB
# The largest request needs about this many times its size: as received, as lines, with fields, and as one body again.
MEMORY_PER_BODY = 6
MEMORY_PER_DOCUMENT = 5_000  # bytes for a short document of a bulk request: its parsed action, and its fields twice
# Bytes of an action line, which has an id of 512 bytes at most. Decoding one blocks all other requests: 64 MB would
# take 10 s.
MAX_ACTION_BYTES = 64 * 1024
# Values of a document, counted by its commas. Splitting a document into its members blocks all other requests: 200,000
# take .1 s and 40 MB. A text of 10 MB has some 150,000 commas.
MAX_DOCUMENT_VALUES = 200_000
# Documents that get their fields in one step of some 30 ms. Between two steps, other requests get their turn; after
# the client has left, there is no next step.
DOCUMENTS_PER_STEP = 100
# Bytes of a head that has not all arrived. Its headers may have 256 KB, which is checked when they are there.
MAX_HEAD_BYTES = 384 * 1024
MEMORY_PER_HEAD_BYTE = 3  # as received, decoded, and by its name
# Parts of a body of gzip. Clients send one; a file that was appended to has several. 100,000 keep a thread busy for
# seconds.
MAX_GZIP_PARTS = 1_000
MAX_NAMES_PER_REQUEST = 1_000  # that are looked up; some clients write to an index for each day or customer
MAX_FILTER_PATH = 4_096  # bytes; engines take 4,096 for a whole address
# Keys and positions in paths that are compared for filter_path: a second. 10,000 hits with 50 keys each are 500,000.
MAX_FILTER_STEPS = 1_000_000
MAX_DESCRIPTORS = 65_536  # of the process; systemd allows 524,288, more than is needed here
# Descriptors other than connections of clients and to the engine: files, pipes, and connections that are about to be
# closed.
OTHER_DESCRIPTORS = 128


@dataclass(frozen=True, slots=True)
class Limits:
    """All limits of one gateway."""

    # --- what is held in memory ---

    max_body: int = MAX_BODY  # bytes of a request whose documents get fields
    # Bytes that all requests hold at a time; 0: MIN_MEMORY, or MEMORY_PER_BODY times `max_body` if that is more.
    max_memory: int = 0
    # Documents are 5 to 30 times as large as their gzip, and copies of a long document 150 times. 1,032 is the most
    # that gzip can do: only attacks come near it. Small bodies are exempt.
    max_gzip_ratio: int = 200
    min_bytes_for_ratio: int = 1 * MB

    # --- writes ---

    # Documents of a bulk request that get fields; larger ones pass unread. Clients send 500 to 5,000 at a time, and
    # 10,000 take 3 s of CPU and 50 MB.
    max_documents: int = 10_000

    # --- searches ---

    # A list of 65,536 terms, the most that engines take, has 1 to 2 MB.
    max_search_body: int = 8 * MB
    # Opening brackets, colons and lines of the body of a search, and its commas. Decoding blocks all other requests:
    # 50,000 objects or keys take .02 to .1 s, and 5 MB of memory, and so do 200,000 numbers. 8 MB could be 3 million
    # objects.
    max_search_keys: int = 50_000
    max_search_values: int = 200_000
    max_searches: int = 1_000  # of one `_msearch`; the engine gets 4 of them at a time
    # Requests that are being grouped. Each takes some 10 ms of CPU here, and as much of the engine's. Others wait for
    # `turn_seconds`, and then get 429, as from an engine whose queue is full.
    max_grouping: int = 16
    turn_seconds: float = 1.0

    # --- connections ---

    # Each may have .3 MB in buffers, beside what is counted, and a connection to the engine.
    max_connections: int = 4_000
    # Requests that the gateway itself sends at a time: look-ups, stamps, and steps of grouped searches, which may be
    # half of them. So searches do not keep writes waiting.
    gateway_requests: int = 256
    max_gateway_answer: int = 32 * MB  # bytes of an answer to a look-up; that of 10,000 indices has 20 MB

    # --- time ---

    # For a TLS handshake and the head of a request. It is one packet, or a few; nginx allows 60 s.
    head_seconds: float = 20.0
    # Load balancers close idle connections after 60 s (AWS) to 600 s (Google). If the gateway were faster, a request
    # might be sent on a connection at the moment in which it is closed. If there are too many
    # connections, idle ones are closed earlier.
    idle_seconds: float = 620.0
    check_seconds: float = 10.0  # between two checks of the bytes that a client has sent and read

    @property
    def memory(self) -> int:
        """The size of the budget for all requests."""
        return self.max_memory or max(MIN_MEMORY, MEMORY_PER_BODY * self.max_body)

    @property
    def pool(self) -> int:
        """The maximum number of connections to the engine: one for each client, and those of the gateway itself."""
        return self.max_connections + self.gateway_requests


def affordable_connections(limits: Limits) -> int:
    """Raise the process's limit of descriptors as far as it is useful, and return the connections that it allows."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = min(MAX_DESCRIPTORS, 2 * limits.max_connections + limits.gateway_requests + OTHER_DESCRIPTORS)
    allowed = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < allowed:
        resource.setrlimit(resource.RLIMIT_NOFILE, (allowed, hard))
        soft = allowed
    descriptors = wanted if soft == resource.RLIM_INFINITY else min(wanted, soft)
    return max(1, min(limits.max_connections, (descriptors - limits.gateway_requests - OTHER_DESCRIPTORS) // 2))
