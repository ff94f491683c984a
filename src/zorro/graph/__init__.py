"""A graph as it is given: edges, features, further inputs, names; in memory or on disk."""
