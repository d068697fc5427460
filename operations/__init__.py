"""What an `Index` does, one module for each operation, on any store."""
