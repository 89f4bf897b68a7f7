"""The abstract interpreter: runs a program over abstract values and writes down facts."""
