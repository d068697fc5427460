"""Clusters a whole store, and looks into its clusters."""
