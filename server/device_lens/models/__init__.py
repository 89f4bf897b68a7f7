"""What libraries do to devices. Tables where a table can say it, small functions where it cannot.

A model is a function from a `Call` (evaluated abstract arguments, never syntax) to a value.
"""
