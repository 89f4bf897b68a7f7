"""Text to tree: tolerant and incremental parsing, positions, comments, notebook cells.

Nothing here reads a file or raises at its caller; what cannot be parsed is a value.
"""
