"""Are the claims true? A zoo of models, a plain loop, and a verdict on every explanation."""
