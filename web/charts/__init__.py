"""SVG charts styled by CSS classes, so that a screen can show them light or dark."""
