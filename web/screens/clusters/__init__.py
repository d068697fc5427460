"""Screens about clusters."""
