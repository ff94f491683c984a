"""What several folders of tests use lies beside them."""

import sys
from pathlib import Path

sys.path += [str(Path(__file__).parents[1])]
