"""Errors about arguments say it in one way: "name: expected …, got …"."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "zorro"
FILES = sorted(SOURCE.rglob("*.py"))
GAP = "…"  # what an f-string fills in

ARGUMENT = re.compile(r"[^:]+(: [^:]+)?: expected .+, got ", re.DOTALL)
# What another check says, behind the name of what it looked at.
PASSED_ON = re.compile(rf"[^:]+: ({GAP}/)?{GAP}")
# The name is said by `param_hint`.
OPTION = re.compile(r"expected .+, got ", re.DOTALL)
RULES = {
    "InputError": (ARGUMENT, PASSED_ON),
    "typer.BadParameter": (OPTION,),
}
# What a model gives, or a sentence about one that cannot be served, is about no argument.
SENTENCES = {"ModelError"}
OTHER_GRAMMAR = re.compile(r"\b(must|should|has to|have to|needs to) (be|have|hold|lie|return)\b")


def filled(part: ast.expr, known: dict[str, str]) -> str:
    assert isinstance(part, ast.FormattedValue)
    return known.get(ast.unparse(part.value), GAP)


def message(node: ast.expr, known: dict[str, str]) -> str | None:
    """Return a text with gaps, None where the source does not tell it."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else filled(part, known)
            for part in node.values
        )
    return None


def known_texts(tree: ast.AST) -> dict[str, str]:
    """Return the texts that names stand for, and what a parameter `expected` promises."""
    known = {"expected": f"{GAP}: expected {GAP}"}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            text = message(node.value, {})
            if text is not None:
                known[node.targets[0].id] = text
    return known


def errors(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield the line, the class and the text of each error that is made in some source."""
    tree = ast.parse(source)
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    inside = {id(node): function for function in functions for node in ast.walk(function)}
    whole = known_texts(ast.Module([n for n in tree.body if isinstance(n, ast.Assign)], []))
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = ast.unparse(node.func)
        if not name.endswith(("Error", "BadParameter")):
            continue
        around = inside.get(id(node))
        known = whole if around is None else {**whole, **known_texts(around)}
        text = message(node.args[0], known)
        if text is not None:
            yield node.lineno, name, text


def complaints(source: str) -> list[str]:
    """Return what is said in another way, each with its line."""
    found = []
    for line, name, text in errors(source):
        rules = RULES.get(name, ())
        if (rules and not any(rule.match(text) for rule in rules)) or (
            name not in SENTENCES and OTHER_GRAMMAR.search(text)
        ):
            found.append(f"{line}: {name}: {text}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_errors_have_one_grammar(path):
    assert complaints(path.read_text(encoding="utf-8")) == []


def test_there_are_errors_to_look_at():
    every = [name for path in FILES for _, name, _ in errors(path.read_text(encoding="utf-8"))]
    assert every.count("InputError") > 300


@pytest.mark.parametrize(
    "raised",
    [
        'InputError("tau must be a number, got None")',
        'InputError("tau: a fidelity of 1 cannot be certified")',
        'InputError("tau: expected a number")',
        'InputError(f"{name} must lie below {high}, got {value}")',
        'InputError("expected a number, got None")',
        'DatasetError(f"{path} must hold numbers")',
        'typer.BadParameter("name a number", param_hint="--k")',
    ],
)
def test_another_grammar_is_found(raised):
    assert len(complaints(f"def check(name, value, high, path):\n    raise {raised}\n")) == 1


@pytest.mark.parametrize(
    "raised",
    [
        'InputError("tau: expected a number, got None")',
        'InputError(f"{name}: expected a number, got {value!r}: give one")',
        'InputError(f"{path}: {error}")',
        'InputError(f"{expected}, got {value}")',
        'ModelError("the model must return one row per node")',
        'typer.BadParameter("expected a number, got none", param_hint="--k")',
    ],
)
def test_the_grammar_is_let_through(raised):
    assert complaints(f"def check(name, value, path, error, expected):\n    raise {raised}\n") == []
