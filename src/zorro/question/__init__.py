"""What is asked: which output, and what counts as the same answer."""

from zorro.question.query import LEVELS, About, Level, Query

__all__ = ["LEVELS", "About", "Level", "Query"]
