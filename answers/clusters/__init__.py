"""Clusters of a store."""
