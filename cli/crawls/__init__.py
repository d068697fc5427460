"""Commands that bring crawls in, compare them, and take captures out: index, changes, extract, export, delete."""
