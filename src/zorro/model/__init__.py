"""A model as it is given: run as a pure function, and left as it was found."""
