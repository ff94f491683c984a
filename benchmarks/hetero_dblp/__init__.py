"""What `hetero.py` measures, one subject a file."""
