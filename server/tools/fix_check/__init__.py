"""Tries every fix of a folder's findings alone."""
