"""Runs a real engine on this machine: OpenSearch or Elasticsearch, from Maven packages alone."""
