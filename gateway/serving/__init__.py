"""The HTTP side of the gateway: connections, bodies, limits, threads."""
