"""Made-up runs, in a module beside the tests' folders."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
