"""Commands that look after stores and engines: stats, boilerplate, setup, migrate, rotate, engine."""
