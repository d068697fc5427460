"""The command that clusters a whole store."""
