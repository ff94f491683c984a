"""What is asked: which output, and what counts as the same answer."""

from zorro.question.query import LEVELS, Level, Query

__all__ = ["LEVELS", "Level", "Query"]
