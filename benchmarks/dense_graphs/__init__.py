"""What `dense.py` measures: dense features on graphs of the sizes that people have."""
