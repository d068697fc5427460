"""From words to hits and their groups."""
