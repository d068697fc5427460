"""Charts as SVG: shapes with the names of their styles, so that a page can show them light and dark."""
