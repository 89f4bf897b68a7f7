"""What is around a file: configuration, other files, imports, and classes outside.

The only room besides `benchmark`, `lsp` and `cli` that reads the disk. What cannot be read is a
value with a message, never an exception.
"""
