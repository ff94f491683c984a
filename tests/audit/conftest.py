"""Made-up explanations lie beside the tests' folders."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
