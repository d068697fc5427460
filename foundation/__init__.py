"""What every room builds on: schemes, canonical text, errors, and the extras of the package."""
