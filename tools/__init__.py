"""Checks of the repository itself, run by `make lint`. Each prints what is wrong and where, and exits 1."""
