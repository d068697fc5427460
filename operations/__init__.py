"""What an `Index` does with a store: each module is one operation, on any store."""
