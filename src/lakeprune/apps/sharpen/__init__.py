"""A DataFrame with the same rows whose scans read fewer files."""
