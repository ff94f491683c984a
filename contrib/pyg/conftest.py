r"""Stands in for the two lines that a PyG checkout gets: see README.md."""

import importlib.util
import sys
from pathlib import Path

import torch_geometric.explain
import torch_geometric.explain.algorithm

NAME = 'torch_geometric.explain.algorithm.zorro_explainer'


def _register():
    file = Path(__file__).parent / 'zorro_explainer.py'
    spec = importlib.util.spec_from_file_location(NAME, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[NAME] = module
    spec.loader.exec_module(module)
    for package in [
            torch_geometric.explain,
            torch_geometric.explain.algorithm,
    ]:
        package.ZorroExplainer = module.ZorroExplainer


_register()
