"""Searches for small selections with high fidelity."""

from zorro.search.multiple import search_multiple
from zorro.search.paper import Found, Move, reaches, search

__all__ = ["Found", "Move", "reaches", "search", "search_multiple"]
