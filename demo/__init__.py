"""The demo: real Delta tables, and `lakeprune explain` run on them. Nothing in the package imports this."""
