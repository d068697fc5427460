"""Looks after a store as a whole: its boilerplate, figures and fingerprints."""
