"""What can be known of a value, as lattices.

Elements are immutable, except the objects of the abstract heap, whose fields change only through
a `Journal` so that the interpreter can undo and merge what two branches did.
"""
