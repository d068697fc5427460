"""A real engine on this machine: OpenSearch or Elasticsearch, from packages alone."""
