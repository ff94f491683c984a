"""Every method with settings that take little time, and PyG's GNNExplainer run by hand."""

from typing import Any

import torch
from torch_geometric.explain import Explainer, GNNExplainer

from zorro.methods import build

OURS = (
    "empty",
    "gnnexplainer",
    "grad",
    "grad-input",
    "graphmask",
    "pgexplainer",
    "pgm",
    "random",
    "random-edges",
    "soft-zorro",
    "subgraphx",
    "zorro",
    "zorro-paper",
)
WITHOUT_FEATURES = ("graphmask", "pgexplainer", "pgm", "random-edges", "subgraphx")
RANK_EDGES = ("gnnexplainer", "graphmask", "pgexplainer", "random-edges")


def built(name, subjects, training_queries=(5, 6, 7)):
    options: dict[str, dict[str, Any]] = {
        "random": {"sizes": (3, 2)},
        "gnnexplainer": {"epochs": 10},
        "graphmask": {"epochs": 5},
        "pgexplainer": {"subjects": subjects, "training_queries": training_queries, "epochs": 3},
        "pgm": {"samples": 100},
        "subgraphx": {"rollouts": 3, "samples": 20},
        "soft-zorro": {"noise": subjects.noise, "epochs": 10},
        "zorro": {"noise": subjects.noise, "tau": 0.7},
        "zorro-paper": {"noise": subjects.noise, "tau": 0.7},
    }
    return build(name, **options.get(name, {}))


def pygs_gnn_explainer(subject, *, level, epochs, **index):
    """Return what PyG gives for a subject, called as its users call it."""
    explainer = Explainer(
        subject.model.eval(),
        GNNExplainer(epochs=epochs, lr=0.01),
        explanation_type="model",
        node_mask_type="common_attributes",
        edge_mask_type="object",
        model_config={
            "mode": "multiclass_classification",
            "task_level": level,
            "return_type": "raw",
        },
    )
    torch.manual_seed(subject.generator().initial_seed())
    return explainer(subject.graph.x, subject.graph.edge_index, **index)
