"""The page about the design shows the packages as they are: made from their docstrings and imports.

Layers are those of `tests/test_architecture.py`, which fails if an import goes against them.
"""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "zorro"
MARKER = "<!-- the house, made from the code when the site is built -->"


def layers(name: str = "LAYERS") -> list[list[str]]:
    """Return what is in each layer, what imports nothing of the others first."""
    text = (ROOT / "tests" / "test_architecture.py").read_text(encoding="utf-8")
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and [ast.unparse(to) for to in node.targets] == [name]:
            found: list[list[str]] = ast.literal_eval(node.value)
            return found
    raise LookupError(f"{name}: expected it in tests/test_architecture.py")


def file_of(part: str) -> Path:
    """Return the file whose docstring speaks for a package or a module."""
    package = SOURCE / part / "__init__.py"
    return package if package.exists() else SOURCE / f"{part}.py"


def purpose(file: Path) -> str:
    """Return the first paragraph of a file's docstring, on one line."""
    docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or ""
    return " ".join(docstring.split("\n\n")[0].split())


def files_of(part: str) -> list[Path]:
    """Return all files of a package, or the one of a module."""
    return sorted((SOURCE / part).rglob("*.py")) or [file_of(part)]


def uses(part: str) -> set[str]:
    """Return what else of the library a package or module imports."""
    names: set[str] = set()
    for file in files_of(part):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {f"{node.module}.{alias.name}" for alias in node.names}
            elif isinstance(node, ast.Import):
                names |= {alias.name for alias in node.names}
    parts = {name.split(".")[1] for name in names if name.startswith("zorro.")}
    return {other for other in parts if file_of(other).exists()} - {part}


def box(part: str) -> str:
    """Return what the page says of a package or module."""
    is_package = (SOURCE / part).is_dir()
    name = f"{part}/" if is_package else "zorro" if part == "__init__" else f"{part}.py"
    size = f", {len(files_of(part))} files" if is_package else ""
    used = uses(part)
    below = ", ".join(f"`{other}`" for layer in layers() for other in layer if other in used)
    return (
        f":::{{container}} part\n**{name}**{size}\n\n{purpose(file_of(part))}\n\n"
        f"{f'Uses {below}.' if below else 'Uses nothing else of the library.'}\n:::"
    )


def house() -> str:
    """Return the layers as Markdown, the lowest first."""
    floors = []
    for number, parts in enumerate(layers(), 1):
        boxes = "\n".join(box(part) for part in parts)
        floors.append(f"### Layer {number}\n\n::::{{container}} parts\n{boxes}\n::::")
    return "\n\n".join(floors)
