"""The command line in environments with other encodings or few file handles."""
