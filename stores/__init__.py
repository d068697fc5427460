"""Where records live."""
