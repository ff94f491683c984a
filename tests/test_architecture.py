"""Data flows one way: a module imports only from what is to its left, and a page shows the tree."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import zorro

ROOT = Path(zorro.__file__).parent
TREE = Path(__file__).parents[1] / "docs" / "files.md"
# Top to bottom and left to right: all that stands before a package or file, it may import.
LAYERS = [
    ["errors", "version", "arguments", "files"],
    ["elements", "question"],
    ["model", "graph"],
    ["data", "models"],
    ["noise", "cut"],
    ["evaluation", "search"],
    ["preparing", "explanation", "explainer", "pyg"],
    ["metrics", "audit", "methods", "runs"],
    ["show", "paper"],
    ["__init__", "explainers", "plot", "cli"],
]
# The same inside of packages that have an order of their own.
INSIDE = {
    "graph": (
        "grouping column_values weighted_rows edge_index features model_inputs graph packed "
        "packed_graphs names validation stored"
    ),
    "graph.stored": "layout arrays verification graph conversion",
    "model": (
        "failures inference_mode memory randomness receptive_field snapshot model_state "
        "function_model "
        "signature data_model as_module picked_output packing hetero_model message_masks "
        "graph_model link_model predictor"
    ),
    "elements": "types space selection groups edges",
    "question": "agreement event query decision readout asking reading parameters options",
    "evaluation": "evidence estimate evaluator toggles batched traced recorded choice bench",
    "evaluation.recorded": "recording rules slicing linear program",
    "evaluation.traced": (
        "unserved missed presence seen change terms feature_view looked_up edges attention heard "
        "plan patterns tables rows typed layers program tabulating tracer entries_of_columns "
        "changed_input entry linear_terms heard_entry heard_changes heard_terms evaluator check"
    ),
    "search": (
        "found budget certificate paper connected guided certified beyond_chance multiple "
        "ranking inquiry guarding"
    ),
    "preparing": "settings direction ready cutting one_graph several_types graphs",
    "explanation": (
        "written members losses typed parts explanation sentence claim text band "
        "notebook soundness masks typed_masks making finding importance meter"
    ),
    "pyg": "levels hetero_levels calls algorithm",
    "audit": (
        "plain share setting cases permutations training uses contrasts mistakes groups suspicious "
        "telltale profile findings audit given comparison crossing conditions"
    ),
    "runs": (
        "digests given typed_graph task manifest again known store folder flat run adding "
        "comparing homogeneity recount claims engines many listing export"
    ),
    "show": (
        "palette bonds kept_edges rings rings_of_several scene type_scene link_scene plane "
        "molecule graph_scene plot page report audit_page web"
    ),
    "show.page": (
        "html contents address answers view node_view link_view "
        "graph_view type_view run_inputs payload"
    ),
    "cli": (
        "terminal options output_file progress notes table run_progress verifying announcement "
        "levels asked naming feature_groups other_class kept node_data link_data graph_data "
        "type_data model_and_data given_names named_task made_with audit_text compare_text claims "
        "explaining datasets convert demo doctor explain fidelity overview report reproduce "
        "runs audit compare serve train verify app"
    ),
}
# Methods of a value that are doors to what is made of it: that is imported when they are called.
DOORS = {
    "zorro.explanation.explanation": {
        f"zorro.explanation.{name}"
        for name in ("sentence", "claim", "text", "band", "notebook", "soundness", "masks")
    }
}
CORE = {"torch", "torch_geometric", "numpy", "scipy", "safetensors", "zorro"}
OUTER = {"cli"}
# Imported where they are used, in functions.
OPTIONAL = {
    "pyg": "levels algorithm",
    "runs": {"pandas", "pyarrow", "ray"},
    "show/molecule.py": {"rdkit"},
    "show/plane.py": {"networkx"},
    "show/plot": {"matplotlib"},
    "paper": {"matplotlib"},  # its types
    "show/web": {  # all of it, by one command alone
        "fastapi",
        "pydantic",
        "pydantic_core",
        "starlette",
        "uvicorn",
    },
}


def module_of(path: Path) -> str:
    """Return a file's module; a package's is that of its `__init__`."""
    parts = ("zorro", *path.relative_to(ROOT).with_suffix("").parts)
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


FILES = {module_of(path): path for path in sorted(ROOT.rglob("*.py"))}


def imports_of(path: Path, *, when_loaded: bool = False) -> set[str]:
    """Return all that a file imports, at its top, in functions, or for its types alone.

    Args:
        path: of the file.
        when_loaded: leave out what is imported in functions and for types.
    """
    names = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in tree.body if when_loaded else ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"{path}: relative import"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
    return names


def module_with(name: str) -> str:
    """Return the module that a name is, or that it is in."""
    return name if name in FILES else name.rpartition(".")[0]


def own_of(names: set[str]) -> set[str]:
    """Return the library's own modules among what is imported."""
    return {module_with(name) for name in names if name.split(".")[0] == "zorro"}


# Each module with the library's own that it imports, doors aside.
IMPORTS = {
    module: own_of(imports_of(path)) - DOORS.get(module, set()) for module, path in FILES.items()
}


def part_of(module: str, package: str = "zorro") -> str:
    """Return which file or folder of a package a module is, or lies in."""
    return module.removeprefix(package).lstrip(".").split(".")[0] or "__init__"


def inside(package: str) -> list[str]:
    return [module for module in FILES if module == package or module.startswith(f"{package}.")]


def from_the_right(package: str, order: list[str]) -> list[str]:
    """Return the imports between parts of a package that go against their order."""
    place = {name: position for position, name in enumerate(order)}
    return [
        f"{module} imports {imported}"
        for module in inside(package)
        for imported in sorted(IMPORTS[module] & set(inside(package)))
        if part_of(module, package) != part_of(imported, package)
        and place[part_of(module, package)] < place[part_of(imported, package)]
    ]


def test_the_packages_import_from_the_left():
    order = [name for layer in LAYERS for name in layer]
    assert sorted(order) == sorted({part_of(module) for module in FILES})
    assert from_the_right("zorro", order) == []


@pytest.mark.parametrize("name", INSIDE)
def test_inside_a_package_too(name):
    package = f"zorro.{name}"
    order = INSIDE[name].split()
    parts = {part_of(module, package) for module in inside(package)}
    assert sorted(order) == sorted(parts - {"__init__"})
    # The package itself gathers its parts; none of them may import what is gathered.
    assert from_the_right(package, [*order, "__init__"]) == []


@pytest.mark.parametrize("module", DOORS)
def test_what_a_door_leads_to_is_imported_when_it_is_opened(module):
    path = FILES[module]
    assert own_of(imports_of(path)) >= DOORS[module]
    assert own_of(imports_of(path, when_loaded=True)) & DOORS[module] == set()


def test_no_module_imports_itself_by_way_of_others():
    try:
        TopologicalSorter(IMPORTS).prepare()
    except CycleError as error:
        pytest.fail(" imports ".join(reversed(error.args[1])))


def test_only_names_that_exist_are_imported():
    assert {module for imported in IMPORTS.values() for module in imported} <= set(FILES)


@pytest.mark.parametrize(
    "module", [module for module in FILES if part_of(module) not in OUTER], ids=str
)
def test_the_core_imports_only_the_core_dependencies(module):
    path = FILES[module].relative_to(ROOT).as_posix()
    allowed = CORE.union(
        *(OPTIONAL[folder] for folder in OPTIONAL if f"{path}/".startswith(f"{folder}/"))
    )
    foreign = {name.split(".")[0] for name in imports_of(FILES[module])} - allowed
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


def shown_tree() -> list[Path]:
    """Return what the page names: one or more names a line, deeper ones below their folder."""
    tree = re.search(r"^src/zorro/\n(.*?)^```$", TREE.read_text(encoding="utf-8"), re.M | re.S)
    named: list[Path] = []
    folders = {0: Path()}  # by how far what lies in them is set in
    assert tree is not None
    for line in tree[1].splitlines():
        shown = re.match(r"( +)([\w./]+(?:, [\w./]+)*)", line)
        assert shown is not None
        indent, names = shown.groups()
        above = folders[max(depth for depth in folders if depth < len(indent))]
        paths = [above / name for name in names.split(", ")]
        folders = {depth: path for depth, path in folders.items() if depth < len(indent)}
        folders[len(indent)] = paths[-1]
        named += paths
    return named


def test_what_the_tree_names_is_there():
    assert [str(path) for path in shown_tree() if not (ROOT / path).exists()] == []


def test_the_tree_names_every_package_and_every_file_beside_them():
    packages = {path.parent.relative_to(ROOT) for path in ROOT.rglob("__init__.py")} - {Path()}
    beside = {path.relative_to(ROOT) for path in ROOT.glob("*.py")} - {Path("__init__.py")}
    named = set(shown_tree())
    assert sorted(map(str, (packages | beside) - named)) == []
