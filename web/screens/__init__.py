"""The screens: how each answers its request."""
