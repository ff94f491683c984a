"""The torch_geometric.explain plug-in: Zorro as an algorithm of PyG's `Explainer`."""

from zorro.pyg.algorithm import ZorroExplainer

__all__ = ["ZorroExplainer"]
