"""The way out: from a question to scores and passages."""
