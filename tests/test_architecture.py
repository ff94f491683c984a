"""Data flows one way: a module imports only from what is to its left."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import zorro

ROOT = Path(zorro.__file__).parent
# Left to right; modules in one group may import each other.
ORDER = [
    {"agreement", "arguments", "errors", "inference_mode", "memory", "palette", "rings"},
    {"question"},
    {"names"},
    {"plain_json", "typed_values", "version", "whole_file"},
    {"grouping"},
    {"column_values"},
    {"function_model", "model_state"},
    {"predictor", "extras", "edge_index", "features", "receptive_field"},
    {"data"},
    {"models"},
    {"scene"},
    {"elements", "noise"},
    {"cut"},
    {"fidelity"},
    {"search"},
    {"sentence"},
    {"notebook"},
    {"explanation", "explanation_formats"},
    {"meter", "options"},
    {"explainer"},
    {"metrics"},
    {"pyg"},
    {"runs"},
    {"explainers"},
    {"plot"},
    {"page"},
    {"report"},
    {"web"},
    {"experiments"},
    {"__init__"},
    {"cli"},
]
CORE = {"torch", "torch_geometric", "numpy", "scipy", "safetensors", "zorro"}
OUTER = {"cli"}
# Imported where they are used, in functions.
OPTIONAL = {
    "runs": {"pandas", "pyarrow", "ray"},
    "plot": {"matplotlib"},
    "experiments": {"matplotlib"},  # its types
    "web": {"fastapi", "pydantic", "starlette", "uvicorn"},  # all of it, by one command alone
}


def part_of(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imports_of(path: Path) -> set[str]:
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


FILES = sorted(ROOT.rglob("*.py"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_come_from_the_left(path):
    rank = {name: place for place, group in enumerate(ORDER) for name in group}
    here = part_of(path)
    assert here in rank, f"{here} has no place in the order"
    for name in imports_of(path):
        parts = name.split(".")
        if parts[0] == "zorro" and len(parts) > 1 and parts[1] in rank:
            assert rank[parts[1]] <= rank[here], f"{here} imports zorro.{parts[1]}"


@pytest.mark.parametrize(
    "path",
    [path for path in FILES if part_of(path) not in OUTER],
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_the_core_imports_only_the_core_dependencies(path):
    allowed = CORE | OPTIONAL.get(part_of(path), set())
    foreign = {name.split(".")[0] for name in imports_of(path)} - allowed
    assert foreign <= set(sys.stdlib_module_names) | {"__future__"}


def test_the_public_names_load_no_extra():
    code = (
        "import sys, zorro; [getattr(zorro, name) for name in zorro.__all__]; "
        "extras = {'typer', 'rich', 'matplotlib', 'ray', 'fastapi', 'uvicorn'}; "
        "print(sorted(extras & set(sys.modules)))"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_public_names_are_sorted_and_exist():
    assert zorro.__all__ == sorted(zorro.__all__)
    assert all(hasattr(zorro, name) for name in zorro.__all__)
