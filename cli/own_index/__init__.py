"""Commands for an index of your own: attach, detach, gateway, fields."""
