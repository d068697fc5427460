"""Commands that ask about a page or a text: similar, compare, history, versions, locate, watch."""
