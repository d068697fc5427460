"""A proxy that speaks the engine's own API: adds fields to documents of attached indices, and groups searches."""
