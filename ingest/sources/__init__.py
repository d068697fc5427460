"""Where pages come from: web archives, folders, files of lines or rows, standard input."""
