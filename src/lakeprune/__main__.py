"""`python -m lakeprune`: the same as the `lakeprune` command."""

from lakeprune.cli.main import entry_point

if __name__ == "__main__":
    entry_point()
