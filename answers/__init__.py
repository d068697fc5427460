"""Results as sentences and JSON, for commands and screens."""
