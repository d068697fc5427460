"""Results as sentences, formatted numbers and JSON values, shared by the command line and the web interface."""
