"""The screens: a question that a browser asks, and its answer."""
