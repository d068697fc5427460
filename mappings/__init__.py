"""What a record is, at rest."""
