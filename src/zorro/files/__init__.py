"""Files that are written whole, and values that somebody else wrote."""
