"""Evaluation by the operations that a model was seen to run, whatever its layers are called."""
