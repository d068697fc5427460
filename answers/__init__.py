"""What an answer says: in words, numbers and JSON values, the same for the terminal and for a browser."""
