"""An index of your own that winnow is attached to: fields, stamps, templates, locks."""
