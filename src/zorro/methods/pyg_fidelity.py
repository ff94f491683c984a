"""PyG's Fidelity+ and Fidelity− of a set of edges."""

from __future__ import annotations

from torch import Tensor
from torch_geometric.explain import DummyExplainer, Explainer, Explanation
from torch_geometric.explain.metric import fidelity

from zorro.methods.pyg_algorithm import LogProbabilities, model_config, predicted_classes
from zorro.methods.subject import Subject
from zorro.metrics.mask import checked_mask
from zorro.model.model_state import undisturbed


def pyg_fidelity(subject: Subject, edges: Tensor) -> tuple[float, float]:
    """Return (Fid+, Fid−) of `torch_geometric.explain.metric.fidelity` for one prediction.

    Fid+ is 1 if the predicted class changes when messages along the edges are taken away, Fid− if
    it changes when those along all others are. Messages are scaled after normalisation: degrees
    stay what they are, unlike where edges are removed.

    Args:
        subject: the prediction.
        edges: (e,), a mask of the columns of its edge index, hard or soft between 0 and 1.
    """
    graph = subject.graph
    model = LogProbabilities(subject)
    explainer = Explainer(
        model,
        DummyExplainer(),
        explanation_type="model",
        edge_mask_type="object",
        model_config=model_config(subject),
    )
    mask = checked_mask(edges, name="edges", length=graph.edge_index.size(1)).to(graph.x)
    inputs = graph.further_inputs
    explanation = Explanation(
        x=graph.x,
        edge_index=graph.edge_index,
        edge_mask=mask,
        target=predicted_classes(subject),
        **inputs,
    )
    explanation._model_args = list(inputs)
    if subject.query_row is not None:
        explanation.index = subject.query_row
    with undisturbed(model):
        plus, minus = fidelity(explainer, explanation)
    return plus, minus
