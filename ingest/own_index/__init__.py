"""Documents of an index of your own: reads them, and adds winnow's fields."""
