"""The screens, each with the function that answers its requests."""
