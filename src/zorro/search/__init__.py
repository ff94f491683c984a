"""Searches for small selections with high fidelity."""

from zorro.search.beyond_chance import search_beyond_chance
from zorro.search.budget import Budget, BudgetSpent
from zorro.search.certificate import Certificate
from zorro.search.certified import Sampler, SearchResult, search_certified
from zorro.search.found import Found, Move, OnStep, Progress, reaches, unwatched
from zorro.search.guided import GuidedSearch
from zorro.search.multiple import search_multiple
from zorro.search.paper import greedy_search

__all__ = [
    "Budget",
    "BudgetSpent",
    "Certificate",
    "Found",
    "GuidedSearch",
    "Move",
    "OnStep",
    "Progress",
    "Sampler",
    "SearchResult",
    "greedy_search",
    "reaches",
    "search_beyond_chance",
    "search_certified",
    "search_multiple",
    "unwatched",
]
