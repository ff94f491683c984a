"""What `speed.py` and `gpu.py` measure, one subject a file."""
