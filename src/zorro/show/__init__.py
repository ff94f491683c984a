"""Explanations to look at: figures, a report in one file, an explorer in a browser."""
