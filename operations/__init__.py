"""The operations of an `Index`, on any store: each has a module."""
