"""Compares the models of PyTorch with PyTorch itself. Development only: never shipped."""
