"""From HTML to the text that a reader sees."""
