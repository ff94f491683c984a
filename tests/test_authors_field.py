"""The example of authors' fields runs on a small graph and tells what it finds."""

import importlib.util
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent))

from made_hetero import with_classes, written

EXAMPLE = Path(__file__).parents[1] / "examples" / "authors_field.py"


def test_the_example_explains_both_models(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("authors_field", EXAMPLE)
    assert spec is not None
    example = importlib.util.module_from_spec(spec)
    assert spec.loader is not None
    spec.loader.exec_module(example)
    written(tmp_path / "library.npz", with_classes())
    example.main(str(tmp_path / "library.npz"), count=2, epochs=30)
    said = capsys.readouterr().out
    assert said.count("test accuracy") == 2
    lines = [line for line in said.splitlines() if line.startswith("author ")]
    assert [line.split()[1] for line in lines] == ["3", "7", "3", "7"]
    assert all("; relations " in line and "; nodes " in line for line in lines)
