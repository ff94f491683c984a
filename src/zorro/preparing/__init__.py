"""What an explainer makes ready once, before it is asked: of one graph or of many."""
